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

interface Refused {
  readonly file: string
  readonly option: string
  /** Below it, a driver refuses the option before it sends anything. */
  readonly wireVersion: number
  readonly tests: readonly string[]
}

const byHintType = (operation: string): string[] =>
  ['string', 'document'].map((type) => `${operation} with hint ${type} unsupported (client-side error)`)

const refusedByDrivers: readonly Refused[] = [
  {
    file: 'bulkWrite-arrayFilters',
    option: 'array filters',
    wireVersion: 6,
    tests: ['', ' with arrayFilters on second op'].map(
      (end) => `BulkWrite on server that doesn't support arrayFilters${end}`,
    ),
  },
  {
    file: 'bulkWrite-delete-hint',
    option: 'the hint of a delete',
    wireVersion: 5,
    tests: ['deleteOne', 'deleteMany'].map((name) => `BulkWrite ${name} with hints unsupported (client-side error)`),
  },
  {
    file: 'bulkWrite-update-hint',
    option: 'the hint of an update',
    wireVersion: 5,
    tests: ['updateOne', 'updateMany', 'replaceOne'].map(
      (name) => `BulkWrite ${name} with update hints unsupported (client-side error)`,
    ),
  },
  { file: 'deleteMany-hint', option: 'the hint of a delete', wireVersion: 5, tests: byHintType('DeleteMany') },
  { file: 'deleteOne-hint', option: 'the hint of a delete', wireVersion: 5, tests: byHintType('DeleteOne') },
  {
    file: 'find-allowdiskuse',
    option: 'allowDiskUse of a find',
    wireVersion: 4,
    tests: ['true', 'false'].map(
      (value) => `Find fails when allowDiskUse ${value} is specified against pre 3.2 server`,
    ),
  },
  {
    file: 'findOneAndDelete-hint',
    option: 'the hint of a findAndModify',
    wireVersion: 8,
    tests: ['FindOneAndDelete with hint string unsupported (client-side error)', 'FindOneAndDelete with hint document'],
  },
  ...['Replace', 'Update'].map((verb) => ({
    file: `findOneAnd${verb}-hint`,
    option: 'the hint of a findAndModify',
    wireVersion: 8,
    tests: byHintType(`FindOneAnd${verb}`),
  })),
  { file: 'updateMany-hint', option: 'the hint of an update', wireVersion: 5, tests: byHintType('UpdateMany') },
  { file: 'updateOne-hint', option: 'the hint of an update', wireVersion: 5, tests: byHintType('UpdateOne') },
]

export const wireExceptions: readonly Exception[] = [
  ...refusedByDrivers.map(({ file, option, wireVersion, tests }): Exception => ({
    path: `crud/unified/${file}-clientError.json`,
    tests,
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
