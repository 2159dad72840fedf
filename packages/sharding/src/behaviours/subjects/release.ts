/** What the members say of themselves, and of the wire protocol. */
import { row } from '../row.js'

export const releaseBehaviours = {
  serverVersion: row<string>(
    'Version that buildInfo and serverStatus report: the last patch release of the series.',
    'release notes of each series',
    ['2.6', '2.6.12'],
    ['4.0', '4.0.28'],
    ['4.4', '4.4.29'],
    ['5.0', '5.0.31'],
    ['6.0.2', '6.0.2'],
    ['6.0', '6.0.25'],
    ['7.0', '7.0.25'],
    ['8.0', '8.0.13'],
  ),
  nativeWireVersion: row<number>(
    'Highest wire version that hello announces.',
    'driver specification, wire version feature list',
    ['2.6', 2],
    ['4.0', 7],
    ['4.4', 9],
    ['5.0', 13],
    ['6.0.2', 17],
    ['7.0', 21],
    ['8.0', 25],
  ),
  featureCompatibilityVersion: row<string>(
    'featureCompatibilityVersion parameter.',
    'reference/command/setFeatureCompatibilityVersion',
    ['2.6', '2.6'],
    ['4.0', '4.0'],
    ['4.4', '4.4'],
    ['5.0', '5.0'],
    ['6.0.2', '6.0'],
    ['7.0', '7.0'],
    ['8.0', '8.0'],
  ),
  notPrimaryIsCalled: row<'master' | 'primary'>(
    'What a member that is no primary calls what it is not, to clients that know hello.',
    'service_entry_point_common.cpp; "not primary" to clients with helloOk since 4.4.2',
    ['2.6', 'master'],
    ['4.4', 'primary'],
  ),
  commandsByOpQuery: row<boolean>(
    'Any command may come as OP_QUERY; otherwise only those of the handshake may.',
    'legacy opcode removal, 5.1; checkAllowedOpQueryCommand',
    ['2.6', true],
    ['6.0.2', false],
  ),
}
