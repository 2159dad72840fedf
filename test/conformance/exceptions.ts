/**
 * Tests of the specification that are known to fail, each with the reason; the runner counts them
 * as skipped.
 */
export interface Exception {
  /** Path of the file relative to the folder of the specification. */
  readonly path: string
  /** Exact descriptions of tests; absent: all tests of the file. */
  readonly tests?: readonly string[]
  /** Why, as one sentence whose subject is at fault: `the driver …`, `Shardlab …`. */
  readonly reason: string
}

export const exceptions: readonly Exception[] = [
  {
    path: 'crud/unified/bypassDocumentValidation.json',
    tests: [
      'Aggregate with $out passes bypassDocumentValidation: false',
      'BulkWrite passes bypassDocumentValidation: false',
      'FindOneAndReplace passes bypassDocumentValidation: false',
      'FindOneAndUpdate passes bypassDocumentValidation: false',
      'InsertMany passes bypassDocumentValidation: false',
    ],
    reason: 'the driver sends bypassDocumentValidation only when it is true',
  },
  {
    path: 'crud/unified/create-null-ids.json',
    tests: [
      'inserting _id with type null via insertOne',
      'inserting _id with type null via insertMany',
      'inserting _id with type null via bulkWrite',
      'inserting _id with type null via clientBulkWrite',
    ],
    reason: 'the driver replaces an _id of null by an ObjectId',
  },
  {
    path: 'collection-management/timeseries-collection.json',
    reason: 'Shardlab has no time series collections (deviation D400)',
  },
  {
    path: 'command-logging-and-monitoring/logging/operation-id.json',
    reason: 'the driver does not log the operationId of a bulk write',
  },
  {
    path: 'command-logging-and-monitoring/logging/redacted-commands.json',
    tests: [
      'network error in response to authenticate is not redacted',
      'network error in response to saslStart is not redacted',
      'network error in response to saslContinue is not redacted',
      'network error in response to createUser is not redacted',
      'network error in response to updateUser is not redacted',
    ],
    reason: 'Shardlab has no users, and no commands about them (deviation D911)',
  },
  {
    path: 'command-logging-and-monitoring/logging/redacted-commands.json',
    tests: ['network error in response to getnonce is not redacted'],
    reason: 'the driver hides why getnonce failed, network errors included',
  },
  ...[
    'listCollectionObjects',
    'listCollectionObjects-serverErrors',
    'listDatabaseObjects',
    'listDatabaseObjects-serverErrors',
  ].map((name) => ({
    path: `retryable-reads/unified/${name}.json`,
    reason: 'the driver has no helper of this name',
  })),
  {
    path: 'retryable-reads/unified/mapReduce.json',
    reason: 'the driver has no mapReduce helper since version 5',
  },
  {
    path: 'read-write-concern/operation/default-write-concern-3.4.json',
    tests: ['MapReduce omits default write concern'],
    reason: 'the driver has no mapReduce helper since version 5',
  },
]

/** The reason to skip this test; null: run it. */
export function exceptionFor(path: string, description: string): string | null {
  const found = exceptions.find(
    (each) => each.path === path && (each.tests === undefined || each.tests.includes(description)),
  )
  return found?.reason ?? null
}
