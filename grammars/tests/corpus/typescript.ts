import type { Item } from "./item";

export interface Shape {
  area(): number;
  name: string;
}

export type Pair<T> = {
  left: T;
  right: T;
};

type Either =
  | { kind: "left" }
  | { kind: "right" }

export enum Color {
  Red = "red",
  Blue = "blue",
}

declare module "other" {
  export function lost(): void;
}

namespace Geometry {
  export const origin = { x: 0, y: 0 };

  export class Circle implements Shape {
    constructor(private readonly radius: number) {}

    public area(): number {
      return Math.PI * this.radius ** 2;
    }

    static parse(text: string): { circle: Circle } | undefined {
      return undefined;
    }

    abstract scale(by: number): void;

    private name?: string;
  }
}

export function first(items: string[]): string;
export function first(items: number[]): number;
export function first<T extends { id: number }>(items: T[]): T {
  return items[0];
}

export async function load<T>(
  url: string,
  init: { method: string } = { method: "GET" },
): Promise<{ value: T }> {
  const reply = await fetch(url, init);
  return { value: (await reply.json()) as T };
}

export const isItem = (value: unknown): value is Item =>
  typeof value === "object" && value !== null;

@Component({ selector: "app", template: `<p>{{ title }}</p>` })
export class App {
  @Input() title = "";

  @HostListener("click", ["$event"])
  onClick(event: Event): void {
    // TODO: implement
  }
}

export abstract class Empty {}
