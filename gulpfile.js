const { rm } = require('node:fs/promises');
const { dest, src } = require('gulp');

const assets = ['nodes', 'credentials'].flatMap((folder) => [
	`${folder}/**/*.svg`,
	`${folder}/**/*.node.json`,
]);

// Without `encoding: false`, gulp 5 decodes files as UTF-8.
function copyAssets() {
	return src(assets, { base: '.', encoding: false }).pipe(dest('dist'));
}

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

exports.clean = clean;
exports['build:assets'] = copyAssets;
