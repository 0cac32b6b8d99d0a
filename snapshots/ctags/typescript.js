// What TypeScript's own parser finds in the files that the standard input names, as tags like those of ctags: its JavaScript
// and TypeScript parsers lose their way too often to be a measure. `NODE_PATH` says where the package `typescript` lies.
const fs = require("fs");
const ts = require("typescript");

const isFunction = (node) => node && (ts.isFunctionExpression(node) || ts.isArrowFunction(node));

function tagsOf(path) {
  const kind = /\.(tsx|jsx)$/.test(path) ? ts.ScriptKind.TSX : /\.[cm]?js$/.test(path) ? ts.ScriptKind.JSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, fs.readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true, kind);
  const tag = (node, kind, name = node) => {
    const line = file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1;
    const text = name.getText(file).replace(/^["'](.*)["']$/, "$1");
    console.log(JSON.stringify({ _type: "tag", name: text, path, line, kind }));
  };
  const unnamed = (node, kind) => {
    const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
    console.log(JSON.stringify({ _type: "tag", name: "default", path, line, kind }));
  };
  const bound = (name, visit) => {
    if (ts.isIdentifier(name)) visit(name);
    else for (const element of name.elements) if (element.name) bound(element.name, visit);
  };
  const members = (node) => {
    for (const member of node.members) {
      if (member.body && (ts.isMethodDeclaration(member) || ts.isAccessor(member))) tag(member, "method", member.name);
      else if (member.body && ts.isConstructorDeclaration(member)) {
        const line = file.getLineAndCharacterOfPosition(member.getStart(file)).line + 1;
        console.log(JSON.stringify({ _type: "tag", name: "constructor", path, line, kind: "method" }));
      } else if (ts.isPropertyDeclaration(member) && isFunction(member.initializer)) tag(member, "method", member.name);
    }
  };
  const object = (node) => {
    for (const property of node.properties) {
      if (ts.isMethodDeclaration(property) || ts.isAccessor(property)) tag(property, "method", property.name);
      else if (ts.isPropertyAssignment(property)) {
        if (isFunction(property.initializer)) tag(property, "method", property.name);
        else if (ts.isObjectLiteralExpression(property.initializer)) object(property.initializer);
      }
    }
  };
  const value = (node) => {
    if (ts.isClassExpression(node)) members(node);
    else if (ts.isObjectLiteralExpression(node)) object(node);
  };
  const assigned = (node) => {
    const targets = [];
    while (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
      targets.push(node.left);
      node = node.right;
    }
    const isComposed = isFunction(node) || ts.isClassExpression(node) || ts.isObjectLiteralExpression(node);
    const named = targets.filter((target) => /^[\w$.#]+$/.test(target.getText(file)));
    if (!isComposed || named.length === 0) return;
    for (const target of named) tag(target, "function", target.name ?? target);
    value(node);
  };
  const isImport = (node) => node && /^require\(/.test(node.getText(file));
  const called = (node) => {
    while (node) {
      if (ts.isParenthesizedExpression(node) || ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) node = node.expression;
      else if (ts.isPrefixUnaryExpression(node)) node = node.operand;
      else return isFunction(node) ? node : undefined;
    }
  };
  const statements = (list) => {
    for (const node of list) {
      if (ts.isFunctionDeclaration(node)) { if (node.body) node.name ? tag(node, "function", node.name) : unnamed(node, "function"); }
      else if (ts.isClassDeclaration(node)) { node.name ? tag(node, "class", node.name) : unnamed(node, "class"); members(node); }
      else if (ts.isInterfaceDeclaration(node)) tag(node, "interface", node.name);
      else if (ts.isEnumDeclaration(node)) tag(node, "enum", node.name);
      else if (ts.isTypeAliasDeclaration(node)) tag(node, "alias", node.name);
      else if (ts.isModuleDeclaration(node)) {
        let body = node.body;
        while (body && ts.isModuleDeclaration(body)) body = body.body;
        if (body) statements(body.statements);
      } else if (ts.isVariableStatement(node)) {
        for (const declaration of node.declarationList.declarations) {
          if (isImport(declaration.initializer)) continue;
          bound(declaration.name, (name) => tag(name, "variable"));
          if (declaration.initializer && node.declarationList.declarations.length === 1) value(declaration.initializer);
        }
      } else if (ts.isExpressionStatement(node)) {
        const body = called(node.expression)?.body;
        if (ts.isBinaryExpression(node.expression)) assigned(node.expression);
        else if (body?.statements && ts.isCallExpression(node.expression)) statements(body.statements);
      } else if (ts.isExportAssignment(node)) {
        const composed = isFunction(node.expression) || ts.isClassExpression(node.expression) || ts.isObjectLiteralExpression(node.expression);
        if (composed && !node.isExportEquals) unnamed(node, "variable");
        value(node.expression);
      }
    }
  };
  statements(file.statements);
}

for (const path of fs.readFileSync(0, "utf8").split("\n")) if (path) tagsOf(path);
