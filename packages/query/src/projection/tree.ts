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

/** Whether fields that the tree does not name are dropped (`include`) or kept (`exclude`). */
export type ProjectionMode = 'include' | 'exclude'

/** `later`: the later path wins, as in find until 4.2. Server: projection_exec.cpp. */
export type Collisions = 'refused' | 'later'

export class ProjectionNode {
  readonly #collisions: Collisions
  readonly leaves = new Map<string, ProjectionLeaf>()
  readonly children = new Map<string, ProjectionNode>()
  /**
   * Names of fields that are computed or contain a computed field, in the specification's order.
   */
  readonly computedNames: string[] = []
  /** Of this node, after a collision; null: that of the projection. */
  mode: ProjectionMode | null = null
  /** Applied before the fields below are projected, after a collision. */
  transform: Transform | null = null

  constructor(collisions: Collisions = 'refused') {
    this.#collisions = collisions
  }

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
    if (this.#collisions === 'later' && leaf.kind !== 'compute') {
      this.#addLater(names, at, leaf)
      return
    }
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

  #addLater(names: readonly string[], at: number, leaf: ProjectionLeaf): void {
    const name = names[at]!
    this.mode = null
    const known = this.leaves.get(name)
    let child = this.children.get(name)
    if (at === names.length - 1 && child === undefined) {
      this.leaves.set(name, leaf)
      return
    }
    if (child === undefined) {
      child = new ProjectionNode('later')
      if (known?.kind === 'transform') child.transform = known.transform
      this.leaves.delete(name)
      this.children.set(name, child)
    }
    if (at < names.length - 1) child.#addLater(names, at + 1, leaf)
    else if (leaf.kind === 'transform') child.transform = leaf.transform
    else child.mode = leaf.kind === 'keep' ? 'exclude' : 'include'
  }

  get hasComputed(): boolean {
    return this.computedNames.length > 0
  }
}
