#!/usr/bin/env node
'use strict'

// Parts of the program that starts fast. Other commands load more, and run longer.
const connecting = ['copy', 'dashboard', 'doctor', 'events', 'explain-balance', 'fault', 'member', 'rollback-files']
const load = (part) => require('../dist/bundle/load.cjs')(part)

const [, , command] = process.argv
if (command === 'up') void load('up').runUpProgram()
else if (connecting.includes(command)) void load('connecting').runConnectingProgram()
else void import('../dist/bundle/cli.js')
