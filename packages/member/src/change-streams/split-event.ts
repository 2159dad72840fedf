/**
 * `$changeStreamSplitLargeEvent`. Server: change_stream_split_event_helpers.cpp,
 * document_source_change_stream_split_large_event.cpp.
 */
import { CommandError, DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import { builtBytesMax } from '../documents/built-document.js'
import { tokenDocument, tokenIn, type ParsedToken } from './resume-token.js'

/** Larger events are split. */
const eventBytesMax = builtBytesMax - 8 * 1024

/** Beside the token, in `$sortKey: [token]`, which accompanies an event that is to be merged. */
const sortKeyBytes = 18

export interface SplitOptions {
  /** Where the stream begins: perhaps after a fragment of its first event. */
  readonly start: ParsedToken
  /** Whether a router merges the events with those of other shards. */
  readonly isMerged: boolean
}

interface Field {
  readonly name: string
  readonly value: RawValue
  readonly sizeBytes: number
}

/**
 * @param event with its token
 * @returns the event, or its fragments from the one on after which the stream begins
 * @throws CommandError 280 ChangeStreamFatalError: the event has no such fragment; 7182502, 7182500
 *   if it cannot be split
 */
export function fragmentsOf(event: Uint8Array, { start, isMerged }: SplitOptions): readonly Uint8Array[] {
  const id = findField(event, '_id')!.slice()
  const tokenBytes = id.length
  const token = tokenIn(id)
  const skipped = start.fragmentNum !== null && token.hex === start.hex ? start.fragmentNum : null
  if (event.length + (isMerged ? sortKeyBytes + tokenBytes : 0) <= eventBytesMax) {
    if (skipped === null) return [event]
    throw new CommandError(
      'ChangeStreamFatalError',
      'Attempted to resume from a split event fragment, but the event in the resumed stream was not large enough to be split',
    )
  }
  const groups = grouped(event, (index) => tokenDocument(token, index), eventBytesMax - tokenBytes)
  if (skipped !== null && skipped >= groups.length)
    throw new CommandError(
      'ChangeStreamFatalError',
      'Attempted to resume from a split event, but the resumed stream produced a different split. Ensure that the pipeline used to resume is the same as the original',
    )
  return groups
    .map((group, index) => fragment(tokenDocument(token, index), index, groups.length, group))
    .slice(skipped ?? 0)
}

/** The smallest fields come first, as many in each fragment as it can hold. */
function grouped(event: Uint8Array, tokenAt: (index: number) => Uint8Array, bytesMax: number): Field[][] {
  const fields = fieldsBySize(event)
  if (fields.length === 0)
    throw new CommandError(7182502, "Cannot split an empty event or an event containing solely '_id' field")
  const groups: Field[][] = []
  let sizeBytes = 0
  for (const field of fields) {
    if (groups.length === 0 || sizeBytes + field.sizeBytes > bytesMax) {
      const token = tokenAt(groups.length)
      sizeBytes = fragment(token, 0, 0, []).length + sortKeyBytes + token.length
      groups.push([])
    }
    groups.at(-1)!.push(field)
    sizeBytes += field.sizeBytes
    if (sizeBytes > bytesMax)
      throw new CommandError(
        7182500,
        `Splitting change event failed: fragment size ${sizeBytes} is greater than maximum allowed fragment size ${bytesMax}`,
      )
  }
  return groups
}

function fieldsBySize(event: Uint8Array): Field[] {
  const fields: Field[] = []
  for (const it = new FieldIterator(event); it.next();) {
    const [name, value] = [it.name(), it.value()]
    if (name !== '_id') fields.push({ name, value, sizeBytes: 2 + Buffer.byteLength(name) + value.end - value.start })
  }
  return fields.toSorted(
    (a, b) => a.sizeBytes - b.sizeBytes || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
  )
}

function fragment(token: Uint8Array, index: number, count: number, fields: readonly Field[]): Uint8Array {
  const writer = new DocumentWriter(fields.reduce((sum, { sizeBytes }) => sum + sizeBytes, token.length + 64))
  writer.document('_id', token)
  writer
    .startDocument('splitEvent')
    .int32('fragment', index + 1)
    .int32('of', count)
    .end()
  for (const { name, value } of fields) writer.value(name, value)
  return writer.finish()
}
