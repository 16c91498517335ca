/**
 * The test files that can't use the n8n of N8N_URL, and a reporter that names them at the end. A file is among them if it
 * imports one of these modules, itself or through other modules.
 */
const { existsSync, globSync, readFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');

function importsOf(file, found = new Set()) {
	for (const [, path] of readFileSync(file, 'utf8').matchAll(/ from '(\.[^']*)'/g)) {
		const target = `${join(dirname(file), path)}.ts`;
		if (found.has(target) || !existsSync(target)) continue;
		found.add(target);
		importsOf(target, found);
	}
	return found;
}

/** All test files for the n8n of N8N_URL. */
const filesWith = ({ N8N_URL }) =>
	N8N_URL === undefined ? [] : globSync('{e2e,browser}/*.test.ts', { cwd: dirname(__dirname) });

/** Each file that doesn't run with these variables, and the reason. */
function excludedWith(env) {
	const reasons = {
		ownServer: 'They start, kill, or configure an n8n of their own',
		...(env.N8N_FOLDER === undefined && {
			n8nFolder: "They need n8n's folder, database, and third parties (N8N_FOLDER)",
		}),
	};
	return filesWith(env).flatMap((file) => {
		const imported = importsOf(join(dirname(__dirname), file));
		const module = Object.keys(reasons).find((name) => imported.has(join(__dirname, `${name}.ts`)));
		return module === undefined ? [] : [{ file, reason: reasons[module] }];
	});
}

const excluded = excludedWith(process.env);

class Reporter {
	onRunComplete() {
		if (excluded.length === 0) return;
		const { length } = filesWith(process.env);
		console.log(`\nNot run on ${process.env.N8N_URL}: ${excluded.length} of ${length} test files`);
		for (const reason of new Set(excluded.map((one) => one.reason))) {
			const names = excluded
				.filter((one) => one.reason === reason)
				.map(({ file }) => basename(file, '.test.ts'));
			console.log(`${reason}: ${names.join(', ')} (${names.length})`);
		}
	}
}

module.exports = Reporter;
module.exports.excludedWith = excludedWith;
module.exports.excluded = excluded.map(({ file }) => `/test/${file}$`);
