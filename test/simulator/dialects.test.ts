import camelCase from 'lodash/camelCase';
import { ENDPOINTS, ERRORS_AT_ANY_STATUS, NOT_SHOWN } from '../openapi/openapi';
import { dialects } from '.';
import { dialectOf } from './dialects/forms';
import { undocumentedNames } from './dialects/names';

/** A text that differs if the forms do. Functions are compared by their code. */
const textOf = (form: unknown): string =>
	JSON.stringify(form, (_key, value: unknown) =>
		typeof value === 'function' ? String(value) : value,
	);

test('the forms of each detail differ', () => {
	const same: string[] = [];
	dialectOf('', (plain, scrambled) => {
		if (textOf(plain) === textOf(scrambled)) same.push(textOf(plain));
		return plain;
	});
	expect(same).toEqual([]);
});

describe.each(Object.values(dialects))('dialect $name', (dialect) => {
	test('a request has no two values in the same place', () => {
		const names = Object.values(undocumentedNames(dialect));
		for (const name of names.flatMap(({ query = [], body = [] }) => [query, body])) {
			const taken = name.filter((one, index) =>
				name.some((other, at) => at !== index && `${other}.`.startsWith(`${one}.`)),
			);
			expect(taken).toEqual([]);
		}
	});

	test('names values exactly for requests that are not shown', () => {
		const open = ENDPOINTS.filter(
			({ operation, body = {} }) => NOT_SHOWN in operation || NOT_SHOWN in body,
		);
		const named = Object.keys(undocumentedNames(dialect));
		expect(named.sort()).toEqual(open.map(({ operationId }) => operationId).sort());
	});
});

test('a dialect has a status for each error whose status is not shown', () => {
	expect(Object.keys(dialects.plain.statuses)).toEqual(
		expect.arrayContaining(ERRORS_AT_ANY_STATUS.map(camelCase)),
	);
});
