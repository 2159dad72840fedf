/**
 * Why the value at a path fails a query operator, or satisfies one below a negation. Server:
 * generatePathError.
 */
import { BsonType, findField, typeName } from '@shardlab/bson'
import { consideredValues, type LeafArrays } from './considered-values.js'
import {
  numberTypes,
  startDetails,
  writeConsideredTypes,
  writeConsideredValues,
  writeNames,
  type DetailsContext,
} from './details-writer.js'

interface Wording {
  readonly reasons: readonly [failed: string, succeeded: string]
  /** Types to which the operator applies; absent: all. */
  readonly types?: readonly number[]
  readonly leafArrays?: LeafArrays
  /** Whether the operator is itself a negation, whose reason is that of the negated operator. */
  readonly negated?: boolean
  readonly omitsValues?: boolean
  /** Appends the types of the considered values. */
  readonly showsTypes?: boolean
}

const comparison: Wording = { reasons: ['comparison failed', 'comparison succeeded'] }
const membership: Wording = { reasons: ['no matching value found in array', 'matching value found in array'] }
const bits: Wording = {
  reasons: ['bitwise operator failed to match', 'bitwise operator matched successfully'],
  types: [...numberTypes, BsonType.binary],
}
const existence: Wording = { reasons: ['path does not exist', 'path does exist'], omitsValues: true }

const wordings: Readonly<Record<string, Wording>> = {
  $eq: comparison,
  $ne: { ...comparison, negated: true },
  $lt: comparison,
  $lte: comparison,
  $gt: comparison,
  $gte: comparison,
  $in: membership,
  $nin: { ...membership, negated: true },
  $exists: existence,
  $type: { reasons: ['type did not match', 'type did match'], showsTypes: true },
  $mod: {
    reasons: ['$mod did not evaluate to expected remainder', '$mod did evaluate to expected remainder'],
    types: numberTypes,
  },
  $regex: {
    reasons: ['regular expression did not match', 'regular expression did match'],
    types: [BsonType.string, BsonType.symbol, BsonType.regex],
  },
  $size: {
    reasons: ['array length was not equal to given size', 'array length was equal to given size'],
    types: [BsonType.array],
    leafArrays: 'whole',
  },
  $elemMatch: {
    reasons: ['array did not satisfy the child predicate', 'array did satisfy the child predicate'],
    types: [BsonType.array],
    leafArrays: 'whole',
  },
  $all: {
    reasons: ['array did not contain all specified values', 'array did contain all specified values'],
    leafArrays: 'whole',
  },
  $bitsAllClear: bits,
  $bitsAllSet: bits,
  $bitsAnyClear: bits,
  $bitsAnySet: bits,
}

export interface Leaf {
  readonly operator: string
  readonly path: string
  readonly specifiedAs: Uint8Array
  readonly document: Uint8Array
  readonly inverted: boolean
}

export function leafDetails(
  { operator, path, specifiedAs, document, inverted }: Leaf,
  context: DetailsContext,
): Uint8Array {
  const wording = wordings[operator] ?? comparison
  const writer = startDetails(context, operator, specifiedAs)
  const [failed, succeeded] = wording.reasons
  const negated = wording.negated === true || (operator === '$exists' && !existsArgument(specifiedAs, path))
  const reason = inverted === negated ? failed : succeeded
  if (wording.omitsValues === true) return writer.string('reason', reason).finish()
  const considered = consideredValues(document, path, wording.leafArrays ?? 'elements')
  if (considered === null) return writer.string('reason', 'field was missing').finish()
  const { types } = wording
  if (types !== undefined && !considered.values.some((value) => types.includes(value.type))) {
    writer.string('reason', 'type did not match')
    writeConsideredTypes(writer, considered)
    writeNames(writer, 'expectedType', types.map(typeName))
  } else writer.string('reason', reason)
  writeConsideredValues(context, writer, considered)
  if (wording.showsTypes === true) writeConsideredTypes(writer, considered)
  return writer.finish()
}

function existsArgument(specifiedAs: Uint8Array, path: string): boolean {
  const operators = findField(specifiedAs, path)!
  return findField(operators.bytes, '$exists', operators.start)!.isTruthy()
}
