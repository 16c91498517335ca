import { withAdditions, type Additions } from '../../../../../nodes/shared/api/endpoints/endpoint';

const request = (body: Additions['body'], query: Additions['query'] = {}) => ({
	method: 'POST' as const,
	path: '/v1/call',
	...(body && { body }),
	query,
});

test.each<[string, Additions['body'], Additions['body'], object]>([
	['a field of its own', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
	["the node's own value wins", { a: 1 }, { a: 2 }, { a: 1 }],
	[
		'objects with the same name are merged, at any depth',
		{ config: { retry: { attempts: 3 } } },
		{ config: { retry: { attempts: 9, voice: 'x' }, tone: 'calm' } },
		{ config: { retry: { attempts: 3, voice: 'x' }, tone: 'calm' } },
	],
	[
		"an object replaces a value that isn't an object",
		{ a: { b: 1 } },
		{ a: 'text' },
		{ a: { b: 1 } },
	],
	['a value replaces an object', { a: null }, { a: { b: 1 } }, { a: null }],
	['lists are not mixed', { a: [{ b: 1 }] }, { a: [{ c: 2 }, 3] }, { a: [{ b: 1 }] }],
])('additional body fields: %s', (_name, own, added, expected) => {
	expect(withAdditions(request(own), { body: added ?? {} }).body).toEqual(expected);
});

test('a name that JavaScript reserves is a normal field', () => {
	const added = JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }');
	const { body } = withAdditions(request({ a: 1 }), { body: added });
	expect(JSON.parse(JSON.stringify(body))).toEqual({ ...added, a: 1 });
	expect({}).not.toHaveProperty('polluted');
});

test('additional query parameters never replace those of the node', () => {
	const own = { status: ['picked', 'failed'], page: 2 };
	const { query } = withAdditions(request(undefined, own), {
		query: { status: 'x', page: [1], tags: ['a', 'b'] },
	});
	expect(query).toEqual({ ...own, tags: ['a', 'b'] });
});

test('an empty body or query is not sent', () => {
	expect(withAdditions({ method: 'GET', path: '/' }, { body: {}, query: {} })).toEqual({
		method: 'GET',
		path: '/',
	});
});
