#!/usr/bin/env node
import '../dist/src/broadcasts/main.js'
