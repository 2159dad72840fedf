import type { RawValue, StringComparator } from '@shardlab/bson'
import type { OperatorRow } from '../context.js'
import type { LeafArrays, ValueTest } from '../path/walk.js'
import type { FilterNode, PathNode } from './ast.js'
import type { FilterFeatures } from './features.js'
import type { Language } from '../language/language.js'

export interface FilterParser {
  readonly features: FilterFeatures
  readonly language: Language
  /** At the outermost document. */
  readonly isOutermost: boolean
  /** For a filter document inside the outermost one. */
  parseDocument(document: Uint8Array): FilterNode
  /** For a filter on array elements, in which operators for whole documents are refused. */
  parseElement(document: Uint8Array): FilterNode
  /** For `{$gt: 1, $lt: 5}` on a path. */
  parseOperators(path: string, operators: Uint8Array): FilterNode[]
  /** For `{$op: ...}`; false for a DBRef. */
  isOperatorDocument(value: RawValue, incompleteDbRefs?: boolean): boolean
  /** A document whose first name is that of an operator on a path. */
  startsWithOperator(value: RawValue): boolean
}

/** An operator inside `{path: {$op: argument}}`. */
export interface PathOperator extends OperatorRow {
  /** @param siblings the whole operator document ($regex reads $options from it) */
  parse(path: string, argument: RawValue, parser: FilterParser, siblings: Uint8Array): FilterNode | null
}

/** In the position of a field name. */
export interface RootOperator extends OperatorRow {
  parse(argument: RawValue, parser: FilterParser, isTopLevel: boolean): FilterNode | null
}

export type DocumentTest = (bytes: Uint8Array, start: number) => boolean

export interface FilterCompiler {
  readonly strings: StringComparator | undefined
  readonly undefinedMatchesNull: boolean
  /** For a leaf that may take long on a single value. */
  readonly checkForInterrupt: (() => void) | undefined
  compileDocument(node: FilterNode): DocumentTest
  compileValue(node: FilterNode): ValueTest
}

/** `leafArrays`: how the leaf treats an array at the end of the path. */
export interface LeafTest {
  readonly test: ValueTest
  readonly leafArrays: LeafArrays
}

export type LeafCompiler<Node extends PathNode> = (node: Node, compiler: FilterCompiler) => LeafTest
