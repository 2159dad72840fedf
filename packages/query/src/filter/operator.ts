/** The types of query operators. */
import type { RawValue, StringComparator } from '@shardlab/bson'
import type { OperatorRow } from '../context.js'
import type { LeafArrays, ValueTest } from '../path/walk.js'
import type { FilterNode, PathNode } from './ast.js'
import type { FilterFeatures } from './features.js'

/** The parts of the filter parser that operators call. */
export interface FilterParser {
  /** The restricted operators that this filter may use. */
  readonly features: FilterFeatures
  /** Parses a filter document inside the outermost one. */
  parseDocument(document: Uint8Array): FilterNode
  /** Parses a filter on array elements; operators for whole documents are refused in it. */
  parseElement(document: Uint8Array): FilterNode
  /** Parses `{$gt: 1, $lt: 5}` on a path. */
  parseOperators(path: string, operators: Uint8Array): FilterNode[]
  /** Whether the value has the form `{$op: ...}`; a DBRef has not. */
  isOperatorDocument(value: RawValue, incompleteDbRefs?: boolean): boolean
}

/** An operator inside `{path: {$op: argument}}`. */
export interface PathOperator extends OperatorRow {
  /** @param siblings the whole operator document ($regex reads $options from it) */
  parse(path: string, argument: RawValue, parser: FilterParser, siblings: Uint8Array): FilterNode | null
}

/** An operator in the position of a field name. */
export interface RootOperator extends OperatorRow {
  parse(argument: RawValue, parser: FilterParser, isTopLevel: boolean): FilterNode | null
}

/** Tests a document inside its buffer. */
export type DocumentTest = (bytes: Uint8Array, start: number) => boolean

/** The parts of the filter compiler that leaf compilers call. */
export interface FilterCompiler {
  readonly strings: StringComparator | undefined
  readonly undefinedMatchesNull: boolean
  compileDocument(node: FilterNode): DocumentTest
  compileValue(node: FilterNode): ValueTest
}

/** A compiled leaf: the test of one value, and how it treats an array at the end of the path. */
export interface LeafTest {
  readonly test: ValueTest
  readonly leafArrays: LeafArrays
}

export type LeafCompiler<Node extends PathNode> = (node: Node, compiler: FilterCompiler) => LeafTest
