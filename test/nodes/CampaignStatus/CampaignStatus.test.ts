import { InFlight, output, service } from '../../engine';
import { nodeHarness } from '../nodeHarness';

const harness = nodeHarness('campaignStatus', { campaignId: '42' });
const { records, run, executeItems } = harness;
const endpoint = (id = 42) => service().get(`/v1/campaigns/${id}/status`);
const ok = (data: object) => ({ success: true, data });

describe('one read', () => {
	test('sends the additional query parameters, and returns undocumented fields', async () => {
		const body = ok({ campaign: { id: 42 }, note: 'beta' });
		endpoint()
			.query({ x: 'y' })
			.reply(200, { ...body, version: 3 });
		const options = { additionalQueryParameters: '{ "x": "y" }' };
		expect(await records({ output: 'raw', options })).toEqual([
			{ campaign: { id: 42 }, note: 'beta', version: 3 },
		]);
	});

	test('several items, in order, paired, the bad ones on the error output', async () => {
		endpoint(1)
			.delay(30)
			.reply(200, ok({ campaign: { id: '1' } }));
		endpoint(2).reply(200, ok({ campaign: { id: 2 } }));
		const items = [{ id: 1 }, { id: 2 }, { id: 4.2 }, { id: '' }];
		const parameters = { campaignId: '={{ $json.id }}', output: 'raw' };
		const overrides = { onError: 'continueErrorOutput' } as const;
		const result = await run(parameters, { items, overrides, sinks: ['Good', 'Bad'] });
		expect(output(result, 'Good')).toMatchObject([
			{ json: { campaign: { id: '1' } }, pairedItem: { item: 0 } },
			{ json: { campaign: { id: 2 } }, pairedItem: { item: 1 } },
		]);
		expect(output(result, 'Bad')).toMatchObject([
			{ json: { error: `'Campaign' must be a whole number (got "4.2") [row 3]` } },
			{ json: { error: "'Campaign' is empty [row 4]" } },
		]);
	});

	test('ten reads at a time, however many items', async () => {
		const inFlight = new InFlight(10);
		service()
			.get(/status$/)
			.times(24)
			.reply(async () => {
				await inFlight.enter();
				inFlight.leave();
				return [200, ok({ campaign: {} })];
			});
		const items = Array.from({ length: 24 }, (_, index) => ({ id: index + 1 }));
		expect(await executeItems({ campaignId: '={{ $json.id }}' }, { items })).toHaveLength(24);
		expect(inFlight.max).toBe(10);
	});
});

describe('several items with the same campaign', () => {
	const items = Array.from({ length: 30 }, (_, index) => ({
		id: 41 + (index % 2),
		note: index % 3,
	}));
	const byItem = { campaignId: '={{ $json.id }}', output: 'raw' };
	const shortened = (id: number) => ok({ campaign: { id, days: ['mon'] } });

	test('one request per campaign, and an output of its own for each item', async () => {
		endpoint(41).reply(200, shortened(41));
		endpoint(42).reply(200, shortened(42));
		const found = await records(byItem, { items });
		expect(found).toMatchObject(items.map(({ id }) => ({ campaign: { id, days: ['mon'] } })));
		expect(new Set(found.map(({ campaign }) => campaign)).size).toBe(30);
	});

	test('one request for each set of additional parameters', async () => {
		const asked: string[] = [];
		service()
			.get(/status/)
			.times(3)
			.reply((uri) => [200, (asked.push(uri), shortened(42))]);
		const options = { additionalQueryParameters: '={{ { note: $json.note } }}' };
		expect(await records({ campaignId: '42', options }, { items })).toHaveLength(30);
		expect(asked.map((uri) => uri.split('?')[1]).sort()).toEqual(['note=0', 'note=1', 'note=2']);
	});

	test('each item gets the error of one reading', async () => {
		const overrides = { onError: 'continueRegularOutput' } as const;
		endpoint().reply(404, { success: false, error: "Couldn't find Campaign with 'id'=42" });
		const found = await records({}, { items: items.slice(0, 3), overrides });
		expect(found.map(({ error }) => error)).toEqual(
			[1, 2, 3].map((row) => `The service doesn't know this campaign [row ${row}]`),
		);
	});
});
