import fc from 'fast-check';
import { ExplainedError } from '../../nodes/shared/api/errors';
import { socketUrl } from '../../nodes/shared/chat/token';
import { MANY_RUNS } from './runs';

const TOKEN = 'very-secret-token';
const anyOf = (...values: string[]) => fc.constantFrom(...values);

/** URLs that a browser accepts, and URLs that look like other ones. */
const addresses = fc
	.tuple(
		anyOf('ws', 'wss', 'wss', 'WSS', 'http', 'https', 'file', 'javascript', ' wss', 'w\ts', ''),
		anyOf('://', '://', '://', ':/', ':\\\\', ':', '//'),
		anyOf('', '', 'user:password@', 'voice.example.com@', '127.0.0.1@', '@', '%40'),
		anyOf(
			'voice.example.com',
			'127.0.0.1:9',
			'localhost',
			'localhost.evil.example',
			'127.0.0.1.evil.example',
			'[::1]:9',
			'[::ffff:127.0.0.1]',
			'2130706433',
			'0x7f.1',
			'0',
			'169.254.169.254',
			'xn--e1afmkfd.example',
			'пример.example',
			'',
		),
		fc.oneof(
			anyOf('', '/', '/a?b=c', '?token=x&token=y', '#f', '/a#?token=x', '\\a', '?'),
			fc.string(),
		),
	)
	.map((parts) => parts.join(''));

test('a live connection uses exactly the host of the URL from the service, encrypted unless both ends are on this machine', async () => {
	let usable = 0;
	const baseUrls = anyOf('https://voice.example.com', 'http://127.0.0.1:1', 'http://localhost:1');
	const property = fc.property(addresses, baseUrls, fc.boolean(), (wsUrl, baseUrl, claim) => {
		const token = { token: TOKEN, ws_url: wsUrl, expires_at: 0 };
		const named = URL.canParse(wsUrl.trim()) ? new URL(wsUrl.trim()) : undefined;
		let address: string;
		try {
			address = socketUrl({ token, baseUrl, clientId: 'client 1', claim });
		} catch (error) {
			if (!(error instanceof ExplainedError)) throw error;
			if (named === undefined || named.host === '') return;
			const shown = new URL(error.originalMessage ?? '');
			expect([shown.username, shown.password, shown.search, shown.hash].join('')).toBe('');
			return;
		}
		usable++;
		const used = new URL(address);
		expect([used.host, used.pathname]).toEqual([named?.host, named?.pathname]);
		const isHere = /^(localhost|127\.[\d.]+|\[::1\])$/.test(used.hostname);
		expect(used.protocol === 'wss:' || (isHere && baseUrl.startsWith('http:'))).toBe(true);
		expect(used.searchParams.getAll('token').at(-1)).toBe(TOKEN);
		expect(used.searchParams.get('client_id')).toBe('client 1');
		expect(used.hash).toBe('');
	});
	fc.assert(property, { numRuns: MANY_RUNS * 10 });
	expect(usable).toBeGreaterThan(0);
});
