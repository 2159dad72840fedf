/**
 * The BSON types in the replies of a mongos of 8.0, by command. Sources: the IDL files of the
 * server's commands (`reply_type`), the replies that the manual prints, and otherwise the code that
 * builds the reply. In that code `append` of an `int`, a `long long` or a `double` keeps the type,
 * while `appendNumber` of a `long long` writes an int when the value fits into one.
 */
import type { Document } from '@shardlab/bson'
import { administrationReplies } from './replies/administration.js'
import { chunkReplies } from './replies/chunks.js'
import { collectionReplies } from './replies/collections.js'
import { documentReplies } from './replies/documents.js'
import { memberReplies } from './replies/members.js'
import { admin, type ReplyRow } from './replies/reply-row.js'
import { userReplies } from './replies/users.js'

export { lastCursor, type Types } from './replies/reply-row.js'

/** In this order: a row may use data of the rows before it. */
export const replyRows: readonly ReplyRow[] = [
  ...documentReplies,
  ...collectionReplies,
  ...administrationReplies,
  ...chunkReplies,
  ...memberReplies,
  ...userReplies,

  // Errors of all commands have the same four fields.
  ...[
    [{ unheardOf: 1 }, 'types'],
    [{ find: 'things', filter: { $unheardOf: 1 } }, 'types'],
    [{ replSetGetStatus: 1 }, admin],
    [{ mapReduce: 'things', map: '', reduce: '', out: { inline: 1 } }, 'types'],
    [{ getnonce: 1 }, 'types'],
    [{ shutdown: 1 }, 'types'],
    [{ getLastError: 1 }, 'types'],
    [{ getPrevError: 1 }, 'types'],
    [{ resetError: 1 }, 'types'],
    [{ saslStart: 1 }, 'types'],
    [{ saslContinue: 1, conversationId: 1, payload: '' }, 'types'],
    [{ authenticate: 1, user: 'a', nonce: 'b', key: 'c' }, 'types'],
    [{ commitTransaction: 1 }, admin],
    [{ abortTransaction: 1 }, admin],
    [{ configureFailPoint: 'unheardOf', mode: 'off' }, admin],
    [{ createSearchIndexes: 'things', indexes: [{ definition: {} }] }, 'types'],
    [{ dropSearchIndex: 'things', name: 'a' }, 'types'],
    [{ updateSearchIndex: 'things', name: 'a', definition: {} }, 'types'],
  ].map(([command, db]) => ({
    command: command as Document,
    db: db as string,
    types: { errmsg: 'string', code: 'int', codeName: 'string', 'info?': 'string' },
  })),

  { command: { dropDatabase: 1 }, types: { dropped: 'string' } },
]
