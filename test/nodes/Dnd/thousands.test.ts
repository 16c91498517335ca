import range from 'lodash/range';
import { InFlight, service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const ROWS = range(1_000).map((row) => ({ row, phone: String(9_800_000_000 + row) }));
const CONCURRENCY = 20;
const phone = '={{ $json.phone }}';
const harnesses = {
	add: dndHarness('add', { phone }),
	remove: dndHarness('remove', { phone }),
};

/** Accepts every change, and counts those in flight. */
function accepting(method: 'post' | 'delete') {
	const phones: string[] = [];
	const inFlight = new InFlight(CONCURRENCY);
	service()
		[method](PATH)
		.query(true)
		.times(ROWS.length)
		.reply(async (uri, body) => {
			const query = new URL(uri, 'http://any').searchParams;
			const sent = typeof body === 'string' ? undefined : body.add_phone;
			const changed = String(sent ?? query.get('phone'));
			phones.push(changed);
			await inFlight.enter();
			inFlight.leave();
			return [200, { success: true, message: changed }];
		});
	return { phones, inFlight };
}

test.each([
	['add', 'post'],
	['remove', 'delete'],
] as const)(
	'%s: a thousand rows, each once and in order, no more than Concurrency at a time',
	async (operation, method) => {
		const seen = accepting(method);
		const setting = { items: ROWS, credential: DETAILS };
		const changed = await harnesses[operation].records(
			{ developerSettings: { concurrency: CONCURRENCY } },
			setting,
		);
		expect(changed.map(({ message }) => message)).toEqual(ROWS.map((row) => row.phone));
		expect(seen.phones.sort()).toEqual(ROWS.map((row) => row.phone));
		expect(seen.inFlight.max).toBe(CONCURRENCY);
	},
);
