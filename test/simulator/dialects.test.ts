import camelCase from 'lodash/camelCase';
import get from 'lodash/get';
import { ENDPOINTS, ERRORS_AT_ANY_STATUS, NOT_SHOWN } from '../openapi/openapi';
import { dialects } from '.';
import { undocumentedNames } from './dialects/names';
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

test.each(all)('$name names values exactly for requests that are not shown', (dialect) => {
	const open = ENDPOINTS.filter(
		({ operation, body = {} }) => NOT_SHOWN in operation || NOT_SHOWN in body,
	);
	const named = Object.keys(undocumentedNames(dialect));
	expect(named.sort()).toEqual(open.map(({ operationId }) => operationId).sort());
});

test.each(all)('$name has a status for each error whose status is not shown', ({ statuses }) => {
	expect(Object.keys(statuses)).toEqual(
		expect.arrayContaining(ERRORS_AT_ANY_STATUS.map(camelCase)),
	);
});
