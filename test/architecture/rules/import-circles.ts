import { posix } from 'node:path'
import type { Finding, Repository, SourceFile } from '../model/repository.js'

/** No import circle of files, type imports included. */
export function findImportCircles(repository: Repository): Finding[] {
  return [...repository.packages, repository.test].flatMap(({ sources, tests, path }): Finding[] =>
    circlesOf([...sources, ...tests]).map((circle) => findingOf(circle, path)),
  )
}

function findingOf(circle: readonly string[], folder: string): Finding {
  const names = circle.map((path) => path.slice(folder.length + 1))
  const shown = names.length > 6 ? [...names.slice(0, 6), `${names.length - 6} more`] : names
  return {
    path: circle[0]!,
    line: 0,
    message: `is in an import circle, type imports included: ${shown.join(', ')}. Move what they share to a file of its own`,
  }
}

/**
 * The strongly connected components with more than one file (Tarjan's algorithm), and files that
 * import themselves.
 */
function circlesOf(files: readonly SourceFile[]): string[][] {
  const importsByPath = new Map(files.map((file) => [file.path, targetsOf(file)]))
  const circles: string[][] = []
  const numbers = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()

  /** @returns the lowest number that can be reached from the file */
  const visit = (path: string): number => {
    const number = numbers.size
    numbers.set(path, number)
    stack.push(path)
    onStack.add(path)
    let lowest = number
    for (const target of importsByPath.get(path)!) {
      if (!importsByPath.has(target)) continue
      if (!numbers.has(target)) lowest = Math.min(lowest, visit(target))
      else if (onStack.has(target)) lowest = Math.min(lowest, numbers.get(target)!)
    }
    if (lowest === number) {
      const component = stack.splice(stack.indexOf(path))
      for (const member of component) onStack.delete(member)
      if (component.length > 1 || importsByPath.get(path)!.includes(path)) circles.push(component.sort())
    }
    return lowest
  }
  for (const path of importsByPath.keys()) if (!numbers.has(path)) visit(path)
  return circles
}

/** Paths of the files that a file imports by a relative path. */
function targetsOf(file: SourceFile): string[] {
  return file.imports
    .filter(({ form, specifier }) => form !== 'url' && specifier.startsWith('.'))
    .map(({ specifier }) => posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, '.ts'))
}
