/** Operations on cursors, change streams, sessions and buckets. */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import type { AbstractCursor, ChangeStream, ClientSession, Document, GridFSBucket } from 'mongodb'
import { concerns } from '../entities.js'
import { optionsOf, type Method } from './arguments.js'

export const cursorMethods: Readonly<Record<string, Method<AbstractCursor | ChangeStream>>> = {
  close: (cursor) => cursor.close(),
  iterateOnce: (cursor) => cursor.tryNext(),
  iterateUntilDocumentOrError: async (cursor) => {
    for (;;) {
      const document: unknown = await cursor.tryNext()
      if (document !== null) return document
    }
  },
}

export const sessionMethods: Readonly<Record<string, Method<ClientSession>>> = {
  abortTransaction: (session, args, context) => session.abortTransaction(optionsOf(args, context)),
  commitTransaction: (session, args, context) => session.commitTransaction(optionsOf(args, context)),
  endSession: (session) => session.endSession(),
  startTransaction: (session, args) => session.startTransaction(concerns(args)),
  getSnapshotTime: (session) => (session as unknown as { snapshotTime?: unknown }).snapshotTime,
}

const sourceBytes = (source: Document): Buffer => Buffer.from(source['$$hexBytes'], 'hex')

export const bucketMethods: Readonly<Record<string, Method<GridFSBucket>>> = {
  delete: (bucket, args, context) => bucket.delete(args['id'], optionsOf(args, context, 'id')),
  deleteByName: async (bucket, args) => {
    for await (const { _id } of bucket.find({ filename: args['filename'] })) await bucket.delete(_id)
  },
  download: (bucket, args, context) => buffer(bucket.openDownloadStream(args['id'], optionsOf(args, context, 'id'))),
  downloadByName: (bucket, args, context) =>
    buffer(bucket.openDownloadStreamByName(args['filename'], optionsOf(args, context, 'filename'))),
  drop: (bucket, args, context) => bucket.drop(optionsOf(args, context)),
  find: (bucket, args, context) => bucket.find(args['filter'], optionsOf(args, context, 'filter')).toArray(),
  rename: (bucket, args, context) =>
    bucket.rename(args['id'], args['newFilename'], optionsOf(args, context, 'id', 'newFilename')),
  upload: async (bucket, args, context) => {
    const stream = bucket.openUploadStream(args['filename'], optionsOf(args, context, 'filename', 'source'))
    await finished(Readable.from([sourceBytes(args['source'])]).pipe(stream))
    return stream.id
  },
  uploadWithId: async (bucket, args, context) => {
    const stream = bucket.openUploadStreamWithId(
      args['id'],
      args['filename'],
      optionsOf(args, context, 'id', 'filename', 'source'),
    )
    await finished(Readable.from([sourceBytes(args['source'])]).pipe(stream))
    return stream.id
  },
}
