import t from 'tap'
import { CommandTable, refuseLacking, type CommandRow } from '../src/index.js'

const row: CommandRow<never> = {
  name: 'ping',
  aliases: ['PING'],
  routing: 'local',
  access: 'none',
  privileges: 'none',
  manual: 'reference/command/ping',
  status: 'full',
  summary: 'Answers.',
  run: () => undefined as never,
}

t.test('a strict member refuses commands that silently lack a part, not those that refuse it', (t) => {
  refuseLacking(row)
  const partial: CommandRow<never> = { ...row, status: 'partial', missing: 'an option that is refused' }
  refuseLacking(partial)
  t.throws(() => refuseLacking({ ...row, lacks: 'half of it' }), {
    code: 115,
    message: 'ping is refused in strict mode, as it lacks half of it',
  })
  t.end()
})

t.test('a command is found by its name and aliases, in versions that have it', (t) => {
  const table = new CommandTable<never>([row, { ...row, name: 'nonce', aliases: [], behaviour: 'nonces' }])
  t.equal(table.find('PING'), row)
  t.equal(table.find('Ping'), undefined)
  t.equal(table.find('nonce', { nonces: false }), undefined)
  t.equal(table.find('nonce', { nonces: true })?.name, 'nonce')
  t.throws(() => new CommandTable([row, { ...row, name: 'PING', aliases: [] }]), { message: /two rows/ })
  t.end()
})
