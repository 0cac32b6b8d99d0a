<html><body>function not_me() { <?php
declare(strict_types=1);

namespace App\Store;

use App\Note;

const LIMIT = 10;

/** Keeps notes. class Fake {} */
#[Attribute(Attribute::TARGET_CLASS)]
final class Store implements \Countable
{
    public const MAX = 5;
    private array $notes = ['}' => "{$x}"];

    public function __construct(private readonly string $path = '{') {}

    // Counts.
    public function count(): int
    {
        return count($this->notes);
    }

    #[Pure]
    public static function load(string $path): ?self {
        $text = <<<EOT
            function fake() { {$path}
            EOT;
        $sort = function ($a, $b) { return $a <=> $b; };
        return new self($text); # done }
    }

    abstract protected function open(): void;

    private function later(): void
    {
        throw new \LogicException('later: not implemented');
    }
}

interface Visitor { public function visit(Note $note): void; }

trait Greets {
    public function greet(): string { return "hi"; }
}

enum Suit: string
{
    case Hearts = 'H';
    public function label(): string { return ucfirst(strtolower($this->name)); }
}

if (!function_exists('helper')) {
    function &helper(array $of = []): array
    {
        return $of;
    }
}
?>
<p>class Html { don't</p>
<?= helper() ?>
