const { globSync } = require('node:fs');
const { cp, rm } = require('node:fs/promises');
const { basename, join } = require('node:path');
const { dest, parallel, src } = require('gulp');

const assets = ['nodes', 'credentials'].flatMap((folder) => [
	`${folder}/**/*.svg`,
	`${folder}/**/*.node.json`,
	`${folder}/**/__schema__/**/*.json`,
]);

// gulp 5 decodes files as UTF-8 unless told not to.
function copyAssets() {
	return src(assets, { base: '.', encoding: false }).pipe(dest('dist'));
}

/** n8n looks up what a Chat Session puts out without its resource where a workflow was saved before there were any. */
async function copySchemasOfFirstVersion() {
	const schemas = 'nodes/ChatSession/__schema__';
	for (const file of globSync(`${schemas}/v2.0.0/*/*.json`)) {
		await cp(file, join('dist', schemas, 'v1.0.0', basename(file)));
	}
}

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

exports.clean = clean;
exports['build:assets'] = parallel(copyAssets, copySchemasOfFirstVersion);
