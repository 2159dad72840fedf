import type { FilterNode, PathNode } from '../ast.js'
import type { FilterCompiler, LeafCompiler, LeafTest, PathOperator, RootOperator } from '../operator.js'
import { arrayOperators, compileElemMatchObject, compileElemMatchValue, compileSize } from './array.js'
import { comparisonOperators, compileComparison } from './comparison.js'
import { compileExists, compileType, elementOperators } from './element.js'
import { compileBits, compileMod, evaluationOperators } from './evaluation.js'
import { geoOperators } from './geo.js'
import { compileIn, inOperators } from './in.js'
import { logicalOperators, notOperator } from './logical.js'
import { compileRegex, regexOperators } from './regex.js'
import { otherRootOperators, pathComment } from './root.js'

export const pathOperators: ReadonlyMap<string, PathOperator> = new Map(
  [
    ...comparisonOperators,
    ...inOperators,
    ...elementOperators,
    ...arrayOperators,
    ...evaluationOperators,
    ...regexOperators,
    ...geoOperators,
    notOperator,
    pathComment,
  ].map((row) => [row.name, row]),
)

export const rootOperators: ReadonlyMap<string, RootOperator> = new Map(
  [...logicalOperators, ...otherRootOperators].map((row) => [row.name, row]),
)

const leafCompilers: { readonly [Kind in PathNode['kind']]: LeafCompiler<Extract<PathNode, { kind: Kind }>> } = {
  comparison: compileComparison,
  regex: compileRegex,
  in: compileIn,
  exists: compileExists,
  type: compileType,
  size: compileSize,
  mod: compileMod,
  bits: compileBits,
  elemMatchObject: compileElemMatchObject,
  elemMatchValue: compileElemMatchValue,
}

export function compileLeaf(node: PathNode, compiler: FilterCompiler): LeafTest {
  return (leafCompilers[node.kind] as LeafCompiler<PathNode>)(node, compiler)
}

export function isPathNode(node: FilterNode): node is PathNode {
  return Object.hasOwn(leafCompilers, node.kind)
}
