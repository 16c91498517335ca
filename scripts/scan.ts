/** Runs n8n's own package scanner on the sources and on the packed package, as its verification does. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectFolder, unpackPackage } from '../test/n8n/package-install';

async function scan(): Promise<void> {
	const scanner = await import('@n8n/scan-community-package/scanner/scanner.mjs');
	const packed = await mkdtemp(join(tmpdir(), 'scan-'));
	try {
		await unpackPackage(packed);
		const legs = [
			{ name: 'Sources', folder: projectFolder, patterns: scanner.SOURCE_FILE_PATTERNS },
			{ name: 'Packed package', folder: packed, patterns: ['**/*.js', 'package.json'] },
		];
		for (const { name, folder, patterns } of legs) {
			const { passed, message, details } = await scanner.analyzePackage(folder, patterns);
			// The scanner counts a folder without any file as passed, and says so in a message.
			const clean = passed && message === undefined;
			console.log(`${name}: ${clean ? 'passed' : `${message ?? ''}\n${details ?? ''}`}`);
			if (!clean) process.exitCode = 1;
		}
	} finally {
		await rm(packed, { recursive: true, force: true });
	}
}

void scan();
