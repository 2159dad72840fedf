import t from 'tap'
import { LogBuffer } from '../src/log/log-buffer.js'

const long = 'x'.repeat(100_000)

function added(attributes: Readonly<Record<string, unknown>>): { log: LogBuffer; attr: Record<string, unknown> } {
  const log = new LogBuffer(() => 0)
  log.add(0, 'I', 'ACCESS', 1, 'conn1', 'message', attributes)
  return { log, attr: JSON.parse(log.lines[0]!).attr }
}

t.test('the texts of a line have one limit together', async (t) => {
  const { log, attr } = added({ client: '127.0.0.1:5', mechanism: long, user: long, error: `for ${long}` })
  t.match(attr, { client: '127.0.0.1:5', error: /^for x/ }, 'no text is lost to others')
  t.ok(log.lines[0]!.length < 10_500)
  t.same(added({ user: long }).attr, { user: 'x'.repeat(10_240) })
  const fits = { mechanism: 'x'.repeat(5000), user: 'y'.repeat(5000), count: 1 }
  t.same(added(fits).attr, fits)
})

t.test('fifty logins that fail with long names leave earlier lines', async (t) => {
  const { log } = added({ first: true })
  for (let i = 0; i < 50; i++)
    log.add(i, 'I', 'ACCESS', 1, 'conn1', 'Failed', { mechanism: long, user: long, error: long })
  t.match(log.lines[0], /"first":true/)
})
