import t from 'tap'
import { OptionError } from '@shardlab/cluster'
import { exitCodes, reportError } from '../src/exit-codes.js'

t.test('an OptionError exits with code 2, any other error with code 3', (t) => {
  const written = t.capture(process.stderr, 'write', () => true)
  t.equal(reportError(new OptionError('shards is 0; it must be a whole number from 1 to 1000.')), exitCodes.usage)
  for (const message of ['records is 0: it must be at least 1', 'did you mean crash?'])
    t.equal(reportError(new OptionError(message)), exitCodes.usage)
  t.equal(reportError(new Error('of our own')), exitCodes.internal)
  t.equal(reportError('no error at all'), exitCodes.internal)
  t.strictSame(
    written().map(({ args }) => args[0]),
    [
      'shardlab: shards is 0; it must be a whole number from 1 to 1000.\n',
      'shardlab: records is 0: it must be at least 1.\n',
      'shardlab: did you mean crash?\n',
      'shardlab: internal error, please report it: of our own\n',
      'shardlab: internal error, please report it: no error at all\n',
    ],
  )
  t.end()
})

t.test('every command has the same exit codes', (t) => {
  t.strictSame(exitCodes, { fine: 0, failed: 1, usage: 2, internal: 3 })
  t.end()
})
