import t from 'tap'
import { encode, toRawValue } from '@shardlab/bson'
import {
  accessOf,
  checkCreateRoleAccess,
  checkCreateUserAccess,
  checkGrantPrivileges,
  checkRolesInfo,
  checkUpdateUserAccess,
  checkUsersInfo,
  meetsAddressRestrictions,
  parsePrivileges,
  parseRoleArguments,
  parseUserArguments,
  PrivilegeSet,
  privilegesOfBuiltInRole,
  type CommandAccess,
  type RoleName,
} from '../src/index.js'
import { failure } from './support/failure.js'
import { rulesOf } from './support/releases.js'

const shop = (role: string): RoleName => ({ role, db: 'shop' })

t.test('commands on users and roles need their privileges', (t) => {
  const rules = rulesOf('8.0')
  const accessWith = (...roles: RoleName[]): CommandAccess =>
    accessOf(
      new PrivilegeSet(
        roles.flatMap((role) => privilegesOfBuiltInRole(role, rules)),
        rules,
      ),
      [{ user: 'ann', db: 'shop' }],
      roles,
    )
  const userAdmin = accessWith(shop('userAdmin'))
  const reader = accessWith(shop('read'))
  const args = (command: object) => parseUserArguments('createUser', encode(command as never), 'shop', rules)
  const bob = args({ createUser: 'bob', pwd: 'x', roles: ['read'] })
  t.equal(checkCreateUserAccess(userAdmin, bob), undefined)
  t.same(
    failure(() => checkCreateUserAccess(reader, bob)),
    [13, 'Not authorized to create users on db: shop'],
  )
  const other = args({ createUser: 'bob', pwd: 'x', roles: [{ role: 'root', db: 'admin' }] })
  t.same(
    failure(() => checkCreateUserAccess(userAdmin, other)),
    [13, 'Not authorized to grant role: root@admin'],
  )

  const updated = (command: object) => parseUserArguments('updateUser', encode(command as never), 'shop', rules)
  t.same(
    failure(() => checkUpdateUserAccess(reader, updated({ updateUser: 'ann', pwd: 'x' }))),
    [13, 'Not authorized to change password of user: ann@shop'],
  )
  const ownPassword = accessOf(
    new PrivilegeSet(
      parsePrivileges(
        toRawValue([{ resource: { db: 'shop', collection: '' }, actions: ['changeOwnPassword'] }]),
        rules,
      ),
      rules,
    ),
    [{ user: 'ann', db: 'shop' }],
    [],
  )
  t.equal(checkUpdateUserAccess(ownPassword, updated({ updateUser: 'ann', pwd: 'x' })), undefined)
  t.equal(failure(() => checkUpdateUserAccess(ownPassword, updated({ updateUser: 'bob', pwd: 'x' })))[0], 13)
  t.equal(failure(() => checkUpdateUserAccess(userAdmin, updated({ updateUser: 'bob', roles: [] })))[0], 13)

  const cluster = parsePrivileges(toRawValue([{ resource: { cluster: true }, actions: ['find'] }]), rules)
  t.same(
    failure(() => checkGrantPrivileges(userAdmin.privileges, cluster)),
    [
      13,
      'To grant privileges affecting multiple databases or the cluster, must be authorized to grant roles from the admin database',
    ],
  )
  const role = parseRoleArguments('createRole', encode({ createRole: 'x', privileges: [], roles: [] }), 'shop', rules)
  t.equal(checkCreateRoleAccess(userAdmin, role), undefined)
  t.same(
    failure(() => checkCreateRoleAccess(reader, role)),
    [13, 'Not authorized to create roles on db: shop'],
  )
  t.equal(checkUsersInfo(reader, [{ user: 'ann', db: 'shop' }], 'shop'), undefined, 'users may see themselves')
  t.equal(failure(() => checkUsersInfo(reader, 'shop', 'shop'))[0], 13)
  t.equal(checkRolesInfo(reader, [shop('read')]), undefined, 'users may see their roles')
  t.equal(failure(() => checkRolesInfo(reader, [shop('readWrite')]))[0], 13)
  t.end()
})

t.test('users with restrictions authenticate only from their addresses', (t) => {
  const meets = (lists: unknown[], client: string, server = '127.0.0.1'): boolean =>
    meetsAddressRestrictions(
      lists.map((list) => toRawValue(list)),
      client,
      server,
    )
  const office = [{ clientSource: ['10.1.0.0/16', '2001:db8::/32'] }, { clientSource: ['192.0.2.7'] }]
  t.ok(meets([office], '10.1.200.3'))
  t.ok(meets([office], '192.0.2.7'))
  t.ok(meets([office], '2001:db8:0:1::5'))
  t.notOk(meets([office], '10.2.0.1'))
  t.notOk(meets([office], '2001:db9::1'))
  t.notOk(meets([office], 'not an address'))
  t.notOk(meets([office, [{ serverAddress: ['127.0.0.2'] }]], '10.1.0.1'), 'each list must hold')
  t.ok(meets([office, [{ serverAddress: ['127.0.0.0/8'] }], []], '10.1.0.1'))
  t.end()
})
