import get from 'lodash/get';
import { dialects } from '.';
import { isObject } from './json';

/** The path of each detail of a dialect, such as `dnd.list.page`. */
const pathsIn = (value: object): string[] =>
	Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
		isObject(inner) ? pathsIn(inner).map((path) => `${name}.${path}`) : [name],
	);

const all = Object.values(dialects);

test.each([...new Set(all.flatMap(pathsIn))])('the dialects differ in %s', (path) => {
	const choices = all.map((dialect): unknown => get(dialect, path));
	// Functions are compared by their code.
	expect(new Set(choices.map(String)).size).toBeGreaterThan(1);
});
