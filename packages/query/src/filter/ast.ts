/**
 * As in the server's match expressions, a negated operator ($ne, $nin, $not) is a `not` over the
 * positive one, and $all is an `and`.
 */
import type { RawValue } from '@shardlab/bson'

export type ComparisonOperator = 'eq' | 'lt' | 'lte' | 'gt' | 'gte'

export interface AndNode {
  readonly kind: 'and'
  readonly children: readonly FilterNode[]
}
export interface OrNode {
  readonly kind: 'or'
  readonly children: readonly FilterNode[]
}
export interface NorNode {
  readonly kind: 'nor'
  readonly children: readonly FilterNode[]
}
export interface NotNode {
  readonly kind: 'not'
  readonly child: FilterNode
}
export interface ComparisonNode {
  readonly kind: 'comparison'
  readonly path: string
  readonly operator: ComparisonOperator
  readonly value: RawValue
}
export interface RegexNode {
  readonly kind: 'regex'
  readonly path: string
  readonly pattern: string
  readonly flags: string
}
export interface InNode {
  readonly kind: 'in'
  readonly path: string
  readonly values: readonly RawValue[]
  readonly regexes: readonly RegexNode[]
}
export interface ExistsNode {
  readonly kind: 'exists'
  readonly path: string
}
export interface TypeNode {
  readonly kind: 'type'
  readonly path: string
  /** BSON type bytes; "number" is expanded to all four. */
  readonly types: readonly number[]
}
export interface SizeNode {
  readonly kind: 'size'
  readonly path: string
  readonly size: number
}
export interface ModNode {
  readonly kind: 'mod'
  readonly path: string
  readonly divisor: bigint
  readonly remainder: bigint
}
export interface ElemMatchObjectNode {
  readonly kind: 'elemMatchObject'
  readonly path: string
  /** Applies to the element as a document. */
  readonly child: FilterNode
}
export interface ElemMatchValueNode {
  readonly kind: 'elemMatchValue'
  readonly path: string
  /** Apply to the element itself: their paths are "". */
  readonly children: readonly FilterNode[]
}
export interface BitsNode {
  readonly kind: 'bits'
  readonly path: string
  readonly mode: 'allSet' | 'allClear' | 'anySet' | 'anyClear'
  readonly positions: readonly number[]
}
export interface ExprNode {
  readonly kind: 'expr'
  readonly expression: RawValue
}
export interface JsonSchemaNode {
  readonly kind: 'jsonSchema'
  readonly schema: RawValue
}
export interface AlwaysNode {
  readonly kind: 'always'
  readonly value: boolean
}

export type PathNode =
  | ComparisonNode
  | RegexNode
  | InNode
  | ExistsNode
  | TypeNode
  | SizeNode
  | ModNode
  | BitsNode
  | ElemMatchObjectNode
  | ElemMatchValueNode

export type FilterNode = AndNode | OrNode | NorNode | NotNode | PathNode | ExprNode | JsonSchemaNode | AlwaysNode

export function andOf(children: readonly FilterNode[]): FilterNode {
  return children.length === 1 ? children[0]! : { kind: 'and', children }
}

/** Depth first, regardless of negations. */
export function* pathNodes(node: FilterNode): Generator<PathNode> {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'nor':
      for (const child of node.children) yield* pathNodes(child)
      return
    case 'not':
      yield* pathNodes(node.child)
      return
    case 'expr':
    case 'jsonSchema':
    case 'always':
      return
    default:
      yield node
  }
}
