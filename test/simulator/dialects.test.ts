import camelCase from 'lodash/camelCase';
import range from 'lodash/range';
import { ENDPOINTS, ERRORS_AT_ANY_STATUS, NOT_SHOWN } from '../openapi/openapi';
import { dialects, randomDialect } from '.';
import { dialectOf } from './dialects/forms';
import { undocumentedNames } from './dialects/names';

/** A text that differs if the forms do. Functions are compared by their code. */
const textOf = (form: unknown): string =>
	JSON.stringify(form, (_key, value: unknown) =>
		typeof value === 'function' ? String(value) : value,
	);

const all = Object.values(dialects);
const random = range(300).map(randomDialect);

test('the forms of each detail differ, and random dialects have all of them', () => {
	const forms: string[][] = [];
	dialectOf('', (plain, ...others) => {
		forms.push([plain, ...others].map(textOf));
		return plain;
	});
	expect(forms.length).toBeGreaterThan(100);
	expect(forms.filter((given) => new Set(given).size < given.length)).toEqual([]);
	const found = random.map(textOf).join();
	expect(forms.flat().filter((form) => !found.includes(form))).toEqual([]);
});

test('a request has no two values in the same place', () => {
	for (const dialect of [...all, ...random]) {
		const names = Object.values(undocumentedNames(dialect));
		for (const name of names.flatMap(({ query = [], body = [] }) => [query, body])) {
			const taken = name.filter((one, index) =>
				name.some((other, at) => at !== index && `${other}.`.startsWith(`${one}.`)),
			);
			expect({ dialect: dialect.name, taken }).toEqual({ dialect: dialect.name, taken: [] });
		}
	}
});

test.each(all)('$name names values exactly for requests that are not shown', (dialect) => {
	const open = ENDPOINTS.filter(
		({ operation, body = {} }) => NOT_SHOWN in operation || NOT_SHOWN in body,
	);
	const named = Object.keys(undocumentedNames(dialect));
	expect(named.sort()).toEqual(open.map(({ operationId }) => operationId).sort());
});

test('a dialect has a status for each error whose status is not shown', () => {
	expect(Object.keys(dialects.plain.statuses)).toEqual(
		expect.arrayContaining(ERRORS_AT_ANY_STATUS.map(camelCase)),
	);
});
