import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';

/** Webhook URLs that an outsider may know, without their secrets. */
export type WebhookUrls = {
	/** Chat Events Trigger with its secret in a header. */
	watch: string;
	completed: string;
	/** Chat Delivery Trigger with its secret in the query. */
	delivery: string;
	/** A waiting execution of Place Call, without its token. */
	resume: string;
};

export type Attack = {
	kind: string;
	to: keyof WebhookUrls;
	/** Appended to the URL without encoding. */
	suffix?: string;
	method?: string;
	headers?: { [name: string]: string | string[] };
	body?: () => string | Buffer;
	/** The expected statuses of the response. */
	statuses: number[];
};

const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
const nested = (levels: number) => '{"data":'.repeat(levels) + '1' + '}'.repeat(levels);

const FORM = [
	'--x',
	'content-disposition: form-data; name="call_id"; filename="a.bin"',
	'',
	'x'.repeat(1_000_000),
	'--x--',
	'',
].join('\r\n');

/** 50 MB of spaces and then JSON, compressed to about 50 KB. */
const BOMB = gzipSync(' '.repeat(50_000_000) + '{}');

/** n8n reads the body before the node: JSON that it can't read gets 422, and more than 16 MB get 500. */
const UNREADABLE = [422];
const TOO_LARGE = [500];

/** Bodies with name, content type, and the statuses, unless the node rejects them. */
const BODIES: Array<[string, string | undefined, () => string | Buffer, number[]?]> = [
	['no body', undefined, () => ''],
	['text', 'text/plain', () => 'hello'],
	['half of a JSON text', 'application/json', () => '{"call_id":', UNREADABLE],
	['bytes', 'application/octet-stream', () => Buffer.from([0xff, 0xfe, 0x00, 0x80])],
	['XML', 'application/xml', () => `<a>${randomUUID()}</a>`],
	['a form', 'application/x-www-form-urlencoded', () => `id=${randomUUID()}&action=watch`],
	['a form with a file', 'multipart/form-data; boundary=x', () => FORM],
	['100,000 levels of objects', 'application/json', () => nested(100_000)],
	['a list of lists', 'application/json', () => '['.repeat(50_000) + ']'.repeat(50_000)],
	['__proto__', 'application/json', () => `{"__proto__":{"action":"watch"},"constructor":1}`],
	['an empty object', 'application/json', () => '{}'],
	['null', 'application/json', () => 'null'],
	['a JSON text in a JSON text', 'application/json', () => JSON.stringify('{"call_id":"x"}')],
	['17 MB', 'application/json', () => `{"x":"${'x'.repeat(17_000_000)}"}`, TOO_LARGE],
];

const everywhere = (['watch', 'completed'] as const).flatMap(
	(to) =>
		[
			...BODIES.map(
				([kind, type, body, statuses = to === 'watch' ? [403] : [400]]): Attack => ({
					kind: `${to}: ${kind}`,
					to,
					body,
					...(type !== undefined && { headers: { 'content-type': type } }),
					statuses,
				}),
			),
			{
				kind: `${to}: 50 MB after decompression`,
				to,
				headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
				body: () => BOMB,
				statuses: TOO_LARGE,
			},
			{
				kind: `${to}: a wrong content encoding`,
				to,
				headers: { 'content-encoding': 'gzip' },
				body: () => '{}',
				statuses: [500],
			},
			...['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'].map(
				(method): Attack => ({ kind: `${to}: ${method}`, to, method, statuses: [404] }),
			),
			{ kind: `${to}: a longer path`, to, suffix: '/more', statuses: [404] },
			{
				kind: `${to}: a path with ../`,
				to,
				suffix: '/..%2f..%2frest%2fworkflows',
				statuses: [404],
			},
			{ kind: `${to}: a broken path`, to, suffix: '%', statuses: [400, 404] },
			{
				kind: `${to}: 17 KB of headers`,
				to,
				// n8n accepts 16 KB. It closes the connection without reading the rest, and this client can lose the response if the rest is long: with 42 KB, in 75 of 18,000 requests.
				headers: Object.fromEntries(ids(125).map((id) => [`x-${id}`, 'x'.repeat(100)])),
				statuses: [431],
			},
		] satisfies Attack[],
);

/** Attacks on a URL with JSON or another text, which get this status. */
const attacksOn =
	(to: keyof WebhookUrls, what: string, status: number) =>
	(kind: string, body: () => unknown, more: Partial<Attack> = {}): Attack => ({
		kind: `${what}: ${kind}`,
		to,
		body: () => {
			const value = body();
			return typeof value === 'string' ? value : JSON.stringify(value);
		},
		statuses: [status],
		...more,
	});

const watch = attacksOn('watch', 'watch', 403);
const secret = attacksOn('watch', 'secret', 403);
/** n8n starts an execution, which doesn't find the call and ends at the trigger. */
const accepted = attacksOn('completed', 'completed', 200);
const rejected = attacksOn('completed', 'completed', 400);
const delivery = attacksOn('delivery', 'delivery', 403);
const resume = attacksOn('resume', 'resume', 401);

/** Call Completed Trigger searches up to 100,000 objects and lists. */
const TOO_MANY = { statuses: [413] };

const watching = (session_ids: unknown) => ({ action: 'watch', session_ids });
const watchingOne = () => watching(ids(1));
const calls = (count: number) => ids(count).map((call_id) => ({ call_id }));

export const ATTACKS: Attack[] = [
	...everywhere,
	...[20_000, 1_000, 101, 20, 1].map((count) =>
		watch(`${count} made-up sessions`, () => watching(ids(count))),
	),
	watch('a session 1,000 times', () => watching(Array(1_000).fill(randomUUID()))),
	watch('a session ID with ../', () => watching(['../../v1/calls'])),
	watch('a line break in a session', () => watching([`${randomUUID()}\r\nAPI-Token: x`])),
	watch('60,000 letters in a session', () => watching(['x'.repeat(60_000)])),
	watch('objects instead of session IDs', () => watching([{ id: 1 }, [1], null])),
	watch('a list of actions', () => ({ action: ['watch'], session_id: randomUUID() })),

	secret('none', watchingOne),
	...['', 'undefined', 'null', 'NaN', '[object Object]', '0', 'true', '1234', '123456'].map(
		(text) =>
			secret(text === '' ? 'empty' : text, watchingOne, { headers: { 'x-watch-secret': text } }),
	),
	secret('two headers', watchingOne, { headers: { 'x-watch-secret': ['12345', '12345'] } }),
	secret('8 KB', watchingOne, { headers: { 'x-watch-secret': 'x'.repeat(8_000) } }),
	secret('in the query', watchingOne, { suffix: '?secret=12345&x-watch-secret=12345' }),
	secret('in the body', () => ({ ...watchingOne(), secret: '12345' })),
	secret('16 MB without it', () => 'x'.repeat(16_000_000), { statuses: UNREADABLE }),

	accepted('a made-up call', () => ({ call_id: randomUUID(), status: 'picked' })),
	accepted('a made-up call in XML', () => `<call_id>${randomUUID()}</call_id>`, {
		headers: { 'content-type': 'application/xml' },
	}),
	accepted('a made-up call in a form', () => `call_id=${randomUUID()}`, {
		headers: { 'content-type': 'application/x-www-form-urlencoded' },
	}),
	accepted('a made-up call in upper case', () => ({ call_id: randomUUID().toUpperCase() })),
	accepted('a made-up call in an envelope', () => ({
		success: true,
		status: 'ok',
		data: { call_id: randomUUID() },
	})),
	accepted('three made-up calls', () => calls(3)),
	accepted('a made-up call and 15 MB', () => ({
		call_id: randomUUID(),
		x: 'x'.repeat(15_000_000),
	})),
	rejected('101 made-up calls', () => calls(101)),
	rejected('100,000 made-up calls', () => calls(100_000), TOO_MANY),
	rejected('a call 1,000 times', () => Array<object>(1_000).fill({ call_id: randomUUID() })),
	accepted('a made-up call and 200,000 numbers', () => [
		...calls(1),
		...Array<number>(200_000).fill(0),
	]),
	rejected(
		'a made-up call and 200,000 objects',
		() => [...calls(1), ...Array<object>(200_000).fill({})],
		TOO_MANY,
	),
	...['../../v1/calls', 'a?b=c', 'a/b', '%2e%2e%2f', 'a\u0000b', 'a b', 'x'.repeat(129), ''].map(
		(call_id) => rejected(`the ID ${JSON.stringify(call_id).slice(0, 20)}`, () => ({ call_id })),
	),
	rejected('an object instead of the ID', () => ({ call_id: { $ne: null } })),
	rejected('a JSON text with the ID', () => ({ data: JSON.stringify(calls(1)[0]) })),
	rejected('the ID in captured data', () => ({ data_captured: calls(1)[0] })),

	delivery('no secret in the query', () => ({ n: 1 })),
	...[
		'?secret=',
		'?secret=wrong',
		'?secret=a&secret=open-sesame',
		'?secret[]=open-sesame',
		'?secret[a]=open-sesame',
		'?SECRET=open-sesame',
		'?secret=open-sesam%65x',
		'?secret=open-sesame%00',
	].map((suffix) => delivery(suffix, () => ({ n: 1 }), { suffix })),

	resume('no token', () => ({})),
	resume('a wrong token', () => ({}), { suffix: `?signature=${'a'.repeat(64)}` }),
	resume('an empty token', () => ({}), { suffix: '?signature=' }),
	resume('a made-up call', () => calls(1)[0]),
	resume('another node', () => ({}), { suffix: 'x' }),
	{ kind: 'resume: GET', to: 'resume', method: 'GET', statuses: [401] },
];

/** The response of n8n. Status 0 means that it closed the connection. */
type Outcome = { status: number; body: string };

/**
 * Sends the path unchanged, which `fetch` would normalize, on its own connection. With `Connection: close`, Node.js would
 * close it right after a response, also before it has read the whole body, and this client could lose the response.
 */
export async function attack(
	urls: WebhookUrls,
	{ to, suffix = '', method = 'POST', headers = {}, body }: Attack,
): Promise<Outcome> {
	const { hostname, port, pathname } = new URL(urls[to]);
	const bytes = Buffer.from(body?.() ?? '');
	const connection = { connection: 'keep-alive' };
	const type = 'content-type' in headers ? {} : { 'content-type': 'application/json' };
	const length = bytes.length === 0 ? {} : { 'content-length': bytes.length };
	const options = { hostname, port, method, path: pathname + suffix, agent: false };
	return await new Promise((resolve) => {
		const sending = request(
			{ ...options, headers: { ...connection, ...type, ...length, ...headers } },
			(response) => {
				const parts: Buffer[] = [];
				response.on('data', (part: Buffer) => parts.push(part));
				const done = () =>
					resolve({
						status: response.statusCode ?? 0,
						body: Buffer.concat(parts).toString(),
					});
				response.once('end', done);
				response.once('error', done);
			},
		);
		sending.once('error', () => resolve({ status: 0, body: '' }));
		sending.end(bytes);
	});
}
