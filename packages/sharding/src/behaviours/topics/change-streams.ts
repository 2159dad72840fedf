/** Change streams. The values of 2.6 are those of 4.0: it has no stage $changeStream. */
import { row } from '../row.js'

export const changeStreamBehaviours = {
  changeStreamTokenVersion: row<1 | 2>(
    'The version of resume tokens: 2 names the type of the event and has an explicit null for a missing UUID.',
    'resume_token.h (kDefaultTokenVersion) of 4.0.7 and 6.1',
    ['2.6', 1],
    ['7.0', 2],
  ),
  changeStreamFragmentTokenVersion: row<1 | 2>(
    'The version of resume tokens of a stream with the stage $changeStreamSplitLargeEvent.',
    'change_stream_opening_resume_token_version tests of 6.0 (6.0.9)',
    ['2.6', 1],
    ['6.0', 2],
  ),
  changeStreamOptions: row<readonly string[]>(
    'The options of $changeStream beyond those of 4.0.',
    'document_source_change_stream.idl of 4.0, 4.2, 4.4 and 6.0; reference/operator/aggregation/changeStream',
    ['2.6', []],
    ['4.4', ['startAfter', 'fullDocumentBeforeChange', 'allowToRunOnConfigDB']],
    [
      '6.0.2',
      [
        ...['startAfter', 'fullDocumentBeforeChange', 'allowToRunOnConfigDB', 'showExpandedEvents'],
        ...['showSystemEvents', 'showRawUpdateDescription', 'allowToRunOnSystemNS'],
      ],
    ],
  ),
  changeStreamsInheritCollation: row<boolean>(
    'A change stream on a collection has its default collation; otherwise the simple one.',
    'SERVER-39302: 4.2 (4.1.9)',
    ['2.6', true],
    ['4.4', false],
  ),
  changeStreamImages: row<boolean>(
    'fullDocument of $changeStream may be whenAvailable or required, and its options are enumerations.',
    'release notes 6.0; document_source_change_stream.idl',
    ['2.6', false],
    ['6.0.2', true],
  ),
  changeStreamErrorsAreNamed: row<boolean>(
    'A change stream that cannot be resumed fails with ChangeStreamFatalError and ChangeStreamHistoryLost instead of 40585 and 40576.',
    'error_codes.yml, new in 4.1; document_source_check_resume_token.cpp of 4.0',
    ['2.6', false],
    ['4.4', true],
  ),
  resumableErrorLabel: row<boolean>(
    'Errors after which a change stream can be resumed have the label ResumableChangeStreamError, its own errors NonResumableChangeStreamError.',
    'error_labels.cpp, new in 4.3; the change streams specification of the drivers',
    ['2.6', false],
    ['4.4', true],
  ),
  changeStreamWallTime: row<boolean>(
    'Events of change streams have wallTime. Fields of transactions, and the target of a rename, come first.',
    'release notes 6.0; change_stream_event_transform.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  changeStreamTruncatedArrays: row<boolean>(
    'updateDescription has truncatedArrays.',
    'reference/change-events/update, new in 5.0 (4.7)',
    ['2.6', false],
    ['5.0', true],
  ),
  changeStreamDisambiguatedPaths: row<boolean>(
    'updateDescription has disambiguatedPaths if showExpandedEvents is set.',
    'reference/change-events/update, new in 6.1',
    ['2.6', false],
    ['7.0', true],
  ),
  changeStreamKeyChanges: row<boolean>(
    'Change streams report refineCollectionShardKey and reshardCollection.',
    'reference/change-events, new in 6.1',
    ['2.6', false],
    ['7.0', true],
  ),
  shardingProgressEntries: row<'none' | 'type' | 'name'>(
    'No-ops in the oplog report the first chunk on a shard and the phases of resharding: with the name of the event in o2.type, or as the first field of o2.',
    'change_stream_event_transform.cpp of 6.0 and 7.0 (SERVER-66645); new in 3.6, for resharding in 5.0',
    ['2.6', 'none'],
    ['4.0', 'type'],
    ['7.0', 'name'],
  ),
  changeStreamShowsNewShards: row<boolean>(
    'A change stream that is opened on a shard shows the event kNewShardDetected.',
    'change_stream_filter_helpers.cpp of 5.0 and 6.0',
    ['2.6', true],
    ['6.0.2', false],
  ),
  lastChunkEntries: row<boolean>(
    'A no-op in the oplog reports that the last chunk has left a shard; change streams show it with showExpandedEvents and showSystemEvents.',
    'migrate_last_chunk_from_shard_event.js (requires_fcv_60)',
    ['2.6', false],
    ['6.0.2', true],
  ),
  changeStreamNsType: row<boolean>(
    'The event create has nsType.',
    'reference/change-events/create, new in 8.0.5 and 8.1',
    ['2.6', false],
    ['8.0', true],
  ),
}
