import range from 'lodash/range';
import { sleep } from 'n8n-workflow';
import { service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const ROWS = range(1_000).map((row) => ({ row, phone: String(9_800_000_000 + row) }));
const phone = '={{ $json.phone }}';
const harnesses = {
	add: dndHarness('add', { phone }),
	remove: dndHarness('remove', { phone }),
};

/** Takes every change after a moment, and counts how many are under way. */
function accepting(method: 'post' | 'delete') {
	const seen = { phones: new Array<string>(), underWay: 0, most: 0 };
	service()
		[method](PATH)
		.query(true)
		.times(ROWS.length)
		.reply(async (uri, body) => {
			const query = new URL(uri, 'http://any').searchParams;
			const sent = typeof body === 'string' ? undefined : body.add_phone;
			const changed = String(sent ?? query.get('phone'));
			seen.phones.push(changed);
			seen.most = Math.max(seen.most, ++seen.underWay);
			await sleep(40);
			seen.underWay--;
			return [200, { success: true, message: changed }];
		});
	return seen;
}

test.each([
	['add', 'post'],
	['remove', 'delete'],
] as const)(
	'%s: a thousand rows, each once and in order, no more than Concurrency at a time',
	async (operation, method) => {
		const seen = accepting(method);
		const setting = { items: ROWS, credential: DETAILS };
		const changed = await harnesses[operation].records({ options: { concurrency: 20 } }, setting);
		expect(changed.map(({ message }) => message)).toEqual(ROWS.map((row) => row.phone));
		expect(seen.phones.sort()).toEqual(ROWS.map((row) => row.phone));
		expect(seen.most).toBe(20);
	},
	60_000,
);
