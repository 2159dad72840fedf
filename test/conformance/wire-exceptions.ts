/**
 * Tests for old servers that cannot run because hello announces wire version 9, below which the
 * driver does not connect. They apply only to servers that announce more than their own version.
 */
import type { Exception } from './exception.js'

interface Hinted {
  readonly file: string
  readonly operation: string
  /** The first server to which a driver sends hints of unacknowledged writes of this kind. */
  readonly since: '4.2' | '4.4'
}

const hinted: readonly Hinted[] = [
  { file: 'bulkWrite-deleteMany', operation: 'deleteMany', since: '4.4' },
  { file: 'bulkWrite-deleteOne', operation: 'deleteOne', since: '4.4' },
  { file: 'bulkWrite-replaceOne', operation: 'replaceOne', since: '4.2' },
  { file: 'bulkWrite-updateMany', operation: 'updateMany', since: '4.2' },
  { file: 'bulkWrite-updateOne', operation: 'updateOne', since: '4.2' },
  { file: 'deleteMany', operation: 'deleteMany', since: '4.4' },
  { file: 'deleteOne', operation: 'deleteOne', since: '4.4' },
  { file: 'findOneAndDelete', operation: 'findOneAndDelete', since: '4.4' },
  { file: 'findOneAndReplace', operation: 'findOneAndReplace', since: '4.4' },
  { file: 'findOneAndUpdate', operation: 'findOneAndUpdate', since: '4.4' },
  { file: 'replaceOne', operation: 'replaceOne', since: '4.2' },
  { file: 'updateMany', operation: 'updateMany', since: '4.2' },
  { file: 'updateOne', operation: 'updateOne', since: '4.2' },
]

/** Files in which a driver refuses an option before it sends anything. */
const refusedByDrivers: readonly (readonly [file: string, option: string, wireVersion: number])[] = [
  ['bulkWrite-arrayFilters', 'array filters', 6],
  ['bulkWrite-delete-hint', 'the hint of a delete', 5],
  ['bulkWrite-update-hint', 'the hint of an update', 5],
  ['deleteMany-hint', 'the hint of a delete', 5],
  ['deleteOne-hint', 'the hint of a delete', 5],
  ['find-allowdiskuse', 'allowDiskUse of a find', 4],
  ['findOneAndDelete-hint', 'the hint of a findAndModify', 8],
  ['findOneAndReplace-hint', 'the hint of a findAndModify', 8],
  ['findOneAndUpdate-hint', 'the hint of a findAndModify', 8],
  ['updateMany-hint', 'the hint of an update', 5],
  ['updateOne-hint', 'the hint of an update', 5],
]

export const wireExceptions: readonly Exception[] = [
  ...refusedByDrivers.map(([file, option, wireVersion]): Exception => ({
    path: `crud/unified/${file}-clientError.json`,
    kind: 'wire',
    reason: `drivers refuse ${option} below wire version ${wireVersion}`,
  })),
  ...hinted.map(({ file, operation, since }): Exception => ({
    path: `crud/unified/${file}-hint-unacknowledged.json`,
    tests: ['string', 'document'].map(
      (type) => `Unacknowledged ${operation} with hint ${type} fails with client-side error on pre-${since} server`,
    ),
    kind: 'wire',
    reason: `drivers refuse the hint of an unacknowledged write below wire version ${since === '4.2' ? 8 : 9}`,
  })),
  {
    path: 'crud/unified/find-comment.json',
    tests: ['find with comment does not set comment on getMore - pre 4.4'],
    kind: 'wire',
    reason: 'drivers repeat the comment in getMore since wire version 9',
  },
  {
    path: 'crud/unified/aggregate.json',
    tests: ['aggregate with comment does not set comment on getMore - pre 4.4'],
    kind: 'wire',
    reason: 'drivers repeat the comment in getMore since wire version 9',
  },
]
