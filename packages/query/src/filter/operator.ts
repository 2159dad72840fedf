/** What a file in operators/ gives to the table. */
import type { RawValue, StringComparator } from '@shardlab/bson'
import type { OperatorRow } from '../context.js'
import type { LeafArrays, ValueTest } from '../path/walk.js'
import type { FilterNode, PathNode } from './ast.js'
import type { FilterFeatures } from './features.js'

/** What an operator's parser may call back. */
export interface FilterParser {
  /** What may be used in the place where the filter stands. */
  readonly features: FilterFeatures
  /** A filter document that is not the outermost. */
  parseDocument(document: Uint8Array): FilterNode
  /** A filter about each element of an array: what is only for whole documents is refused in it. */
  parseElement(document: Uint8Array): FilterNode
  /** `{$gt: 1, $lt: 5}` on a path. */
  parseOperators(path: string, operators: Uint8Array): FilterNode[]
  /** Does this value look like `{$op: ...}`? A DBRef does not. */
  isOperatorDocument(value: RawValue, incompleteDbRefs?: boolean): boolean
}

/** An operator inside `{path: {$op: argument}}`. */
export interface PathOperator extends OperatorRow {
  /** @param siblings the whole operator document ($regex looks for $options) */
  parse(path: string, argument: RawValue, parser: FilterParser, siblings: Uint8Array): FilterNode | null
}

/** An operator in the place of a field name. */
export interface RootOperator extends OperatorRow {
  parse(argument: RawValue, parser: FilterParser, isTopLevel: boolean): FilterNode | null
}

/** A test of a document where it lies. */
export type DocumentTest = (bytes: Uint8Array, start: number) => boolean

/** What a leaf's compiler may call back. */
export interface FilterCompiler {
  readonly strings: StringComparator | undefined
  readonly undefinedMatchesNull: boolean
  compileDocument(node: FilterNode): DocumentTest
  compileValue(node: FilterNode): ValueTest
}

/** A compiled leaf: the test of one value, and what an array at the end of the path means to it. */
export interface LeafTest {
  readonly test: ValueTest
  readonly leafArrays: LeafArrays
}

export type LeafCompiler<Node extends PathNode> = (node: Node, compiler: FilterCompiler) => LeafTest
