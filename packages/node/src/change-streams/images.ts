/**
 * Documents that events show besides what the oplog has. Server:
 * document_source_change_stream_add_pre_image.cpp and …_add_post_image.cpp.
 */
import {
  compareValues,
  CommandError,
  documentValue,
  DocumentWriter,
  FieldIterator,
  findField,
  findPath,
} from '@shardlab/bson'
import type { ChangeStreamSpec } from '@shardlab/member'
import { compileDelta, formatDocument } from '@shardlab/query'
import type { TimestampPair } from '@shardlab/actor'
import type { NodeHost } from '../host/node-host.js'
import type { EventImages } from './event.js'
import type { EventParts } from './event-parts.js'
import type { Operation } from './operation.js'
import { preImageOf } from './pre-images.js'

export interface ImageSource {
  /** The document as a majority has it now. Undefined: another member looks it up. */
  lookUp(ns: string, uuid: Uint8Array, documentKey: Uint8Array): Uint8Array | null | undefined
  /** @param index of the operation in its transaction */
  preImage(uuid: Uint8Array, ts: TimestampPair, index: number): Uint8Array | null
}

export function imagesOfNode(host: NodeHost, isRouted: boolean): ImageSource {
  return {
    lookUp: (ns, uuid, documentKey) => (isRouted ? undefined : lookUp(host, ns, uuid, documentKey)),
    preImage: (uuid, ts, index) => preImageOf(host, uuid, ts, index),
  }
}

function lookUp(host: NodeHost, ns: string, uuid: Uint8Array, documentKey: Uint8Array): Uint8Array | null {
  const engine = host.set.majorityEngine()
  const collection = engine.collection(ns)
  if (collection === undefined || Buffer.compare(collection.uuid, uuid) !== 0) return null
  const document = collection.findById(findField(documentKey, '_id')!)?.document
  return document !== undefined && hasKey(document, documentKey) ? document : null
}

function hasKey(document: Uint8Array, documentKey: Uint8Array): boolean {
  for (const it = new FieldIterator(documentKey); it.next();) {
    const value = findPath(document, it.name())
    if (value === undefined || compareValues(value, it.value()) !== 0) return false
  }
  return true
}

const withPreImages: ReadonlySet<string> = new Set(['update', 'replace', 'delete'])

/** @throws CommandError 47 NoMatchingDocument: a required image is missing */
export function imagesOf(
  operation: Operation,
  parts: EventParts,
  { fullDocument, fullDocumentBeforeChange }: ChangeStreamSpec,
  source: ImageSource,
): EventImages {
  const { type, ns, uuid, documentKey, difference } = parts
  const showsBefore = fullDocumentBeforeChange !== 'off' && withPreImages.has(type)
  const needsBefore =
    showsBefore || ((fullDocument === 'whenAvailable' || fullDocument === 'required') && type === 'update')
  const images: { fullDocument?: Uint8Array | null | undefined; beforeChange?: Uint8Array | null } = {}
  if (type === 'update' && fullDocument === 'updateLookup') images.fullDocument = source.lookUp(ns, uuid!, documentKey!)
  if (!needsBefore) return images
  const { clusterTime, transaction } = operation
  const before = source.preImage(uuid!, clusterTime, transaction?.txnOpIndex ?? 0)
  if (type === 'update' && fullDocument !== 'default' && fullDocument !== 'updateLookup') {
    if (before === null && fullDocument === 'required') throw missingImage('post-image', operation, parts)
    images.fullDocument = before === null ? null : (compileDelta(difference!).apply(before) ?? before)
  }
  if (!showsBefore) return images
  if (before === null && fullDocumentBeforeChange === 'required') throw missingImage('pre-image', operation, parts)
  images.beforeChange = before
  return images
}

function missingImage(kind: 'pre-image' | 'post-image', { clusterTime }: Operation, parts: EventParts): CommandError {
  const event = new DocumentWriter(256).string('operationType', parts.type).timestamp('clusterTime', ...clusterTime)
  if (parts.documentKey !== null) event.value('documentKey', documentValue(parts.documentKey))
  return new CommandError(
    'NoMatchingDocument',
    `Change stream was configured to require a ${kind} for all update${kind === 'pre-image' ? ', delete and replace' : ''} events, but the ${kind} was not found for event: ${formatDocument(event.finish())}`,
  )
}
