/** A slow, independent evaluator. */
import type { Plain } from './filter.js'

type Tree = Map<string, Tree | true>

function treeOf(paths: readonly string[]): Tree {
  const root: Tree = new Map()
  for (const path of paths) {
    const names = path.split('.')
    let node = root
    for (const name of names.slice(0, -1)) {
      if (!node.has(name)) node.set(name, new Map())
      node = node.get(name) as Tree
    }
    node.set(names.at(-1)!, true)
  }
  return root
}

function isObject(value: Plain): value is { [name: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined: nothing remains. */
function project(value: Plain, tree: Tree, keep: boolean): Plain | undefined {
  if (Array.isArray(value))
    return value.map((element) => project(element, tree, keep)).filter((element) => element !== undefined)
  if (!isObject(value)) return keep ? undefined : value
  const result: { [name: string]: Plain } = {}
  for (const [name, field] of Object.entries(value)) {
    const below = tree.get(name)
    const projected =
      below === true
        ? keep
          ? field
          : undefined
        : below === undefined
          ? keep
            ? undefined
            : field
          : project(field, below, keep)
    if (projected !== undefined) result[name] = projected
  }
  return result
}

/** Keeps the paths and `_id`, or drops the paths. No path may begin with another one. */
export function referenceProjection(document: Plain, paths: readonly string[], keep: boolean): Plain {
  return project(document, treeOf(keep ? ['_id', ...paths] : paths), keep)!
}
