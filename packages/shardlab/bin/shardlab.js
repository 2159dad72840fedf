#!/usr/bin/env node
'use strict'

// The program that starts fast has no other command.
if (process.argv[2] === 'up') void require('../dist/bundle/load.cjs')('up').runUpProgram()
else void import('../dist/src/cli.js')
