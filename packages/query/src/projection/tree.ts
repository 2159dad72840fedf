import { CommandError, type RawValue } from '@shardlab/bson'
import { checkPathLength } from '../aggregation/expressions/field-path.js'

export type Compute = (document: Uint8Array) => RawValue | undefined
/** For $slice. */
export type Transform = (value: RawValue) => RawValue

export type ProjectionLeaf =
  | { readonly kind: 'keep' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'compute'; readonly compute: Compute }
  | { readonly kind: 'transform'; readonly transform: Transform }

export class ProjectionNode {
  readonly leaves = new Map<string, ProjectionLeaf>()
  readonly children = new Map<string, ProjectionNode>()
  /**
   * Names of fields that are computed or contain a computed field, in the specification's order.
   */
  readonly computedNames: string[] = []

  /**
   * @throws CommandError 31249, 31250 when the path already exists or passes through a leaf, 15
   *   Overflow when it is too long
   */
  add(path: string, leaf: ProjectionLeaf): void {
    const names = path.split('.')
    checkPathLength(names)
    this.#add(path, names, 0, leaf)
  }

  #add(path: string, names: readonly string[], at: number, leaf: ProjectionLeaf): void {
    const name = names[at]!
    if (leaf.kind === 'compute' && !this.computedNames.includes(name)) this.computedNames.push(name)
    if (at === names.length - 1) {
      if (this.leaves.has(name) || this.children.has(name)) throw new CommandError(31250, `Path collision at ${path}`)
      this.leaves.set(name, leaf)
      return
    }
    if (this.leaves.has(name))
      throw new CommandError(31249, `Path collision at ${path} remaining portion ${names.slice(1).join('.')}`)
    let child = this.children.get(name)
    if (child === undefined) {
      child = new ProjectionNode()
      this.children.set(name, child)
    }
    child.#add(path, names, at + 1, leaf)
  }

  get hasComputed(): boolean {
    return this.computedNames.length > 0
  }
}
