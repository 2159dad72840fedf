import t from 'tap'
import {
  CommandError,
  decode,
  encode,
  errorCodeName,
  ErrorCodes,
  errorDocument,
  isRetriableErrorCode,
} from '@shardlab/bson'

t.test("codes have the server's names, unknown codes are Location", async (t) => {
  for (const [name, code] of [
    ['BadValue', 2],
    ['NamespaceNotFound', 26],
    ['CursorNotFound', 43],
    ['ShardKeyNotFound', 61],
    ['WriteConcernTimeout', 64],
    ['StaleDbVersion', 249],
    ['WouldChangeOwningShard', 283],
    ['NotWritablePrimary', 10107],
    ['BSONObjectTooLarge', 10334],
    ['DuplicateKey', 11000],
    ['StaleConfig', 13388],
    ['IDLUnknownField', 40415],
    ['RemoveShardDrainingInProgress', 1003141],
  ] as const) {
    t.equal(ErrorCodes[name], code)
    t.equal(errorCodeName(code), name)
  }
  t.equal(errorCodeName(12345), 'Location12345')
  t.equal(errorCodeName(31025), 'Location31025')
})

t.test('the codes are unique and in ascending order', async (t) => {
  const codes = Object.values(ErrorCodes)
  t.equal(new Set(codes).size, codes.length)
  t.same(
    [...codes].sort((a, b) => a - b),
    codes,
    'ascending',
  )
})

t.test("the retriable codes are the server's", async (t) => {
  for (const code of [
    6, 7, 89, 91, 134, 189, 262, 358, 402, 406, 412, 453, 462, 9001, 10107, 11600, 11602, 13435, 13436,
  ])
    t.ok(isRetriableErrorCode(code), errorCodeName(code))
  for (const code of [0, 1, 2, 50, 61, 112, 133, 202, 251, 11000, 11601, 13388, 12345])
    t.notOk(isRetriableErrorCode(code), errorCodeName(code))
})

t.test("a failed command's reply has all fields of its error", async (t) => {
  const error = new CommandError('DuplicateKey', 'E11000 duplicate key', {
    errorLabels: ['A', 'B'],
    extra: encode({ keyPattern: { x: 1 } }),
  })
  t.ok(error instanceof Error)
  t.match(error, { code: 11000, codeName: 'DuplicateKey', message: 'E11000 duplicate key', name: 'CommandError' })
  const reply = decode(errorDocument(error))
  t.same(Object.entries(reply), [
    ['ok', 0],
    ['errmsg', 'E11000 duplicate key'],
    ['code', 11000],
    ['codeName', 'DuplicateKey'],
    ['errorLabels', ['A', 'B']],
    ['keyPattern', { x: 1 }],
  ])
  t.equal(errorDocument(error)[4], 0x01, 'ok is a double')
})

t.test('an error without options has no labels and no extra fields', async (t) => {
  const cause = new Error('why')
  const error = new CommandError(17419, 'too large', { cause })
  t.same(error.errorLabels, [])
  t.equal(error.extra, null)
  t.equal(error.cause, cause)
  t.same(Object.keys(decode(errorDocument(error))), ['ok', 'errmsg', 'code', 'codeName'])
  t.equal(error.codeName, 'Location17419')
})
