import { fixtures } from '../simulator';
import { describeContract } from './contractRing';
import { neverSeen, schemaMismatches } from './schema';

const { campaigns, uploads } = fixtures;

describeContract((ring, dialect) => {
	test('the whole answer, with what the document leaves open', async () => {
		const [status] = await ring.records('campaignStatus', {
			campaignId: String(campaigns.active),
			simplify: false,
		});
		expect(status).toMatchObject({
			campaign: { id: campaigns.active, status: 'Active', ...dialect.campaigns.extraFields },
			calls: { total: 38 },
			uploads: [{ campaign_upload_id: uploads.completed }, { campaign_upload_id: uploads.running }],
		});
	});

	test('simplified', async () => {
		const [status] = await ring.records('campaignStatus', { campaignId: campaigns.active });
		expect(status).toMatchObject({
			campaign_id: campaigns.active,
			attempts_total: 38,
			attempts_picked: 30,
			contacts_queued: 40,
			lists_total: 2,
			lists_queued: 2,
			lists_completed: 1,
		});
	});

	test('an unknown campaign', async () => {
		const { data } = await ring.run('campaignStatus', { campaignId: '999' });
		expect(data.resultData.error?.message).toBe('The service does not know this campaign');
	});

	test.each([
		[campaigns.draft, 'draft'],
		[campaigns.paused, 'paused'],
		[campaigns.archived, 'archived'],
	])('a wait for campaign %i ends at once: %s', async (campaignId, outcome) => {
		const found = await ring.records('campaignStatus', { campaignId, waitUntilCompleted: true });
		expect(found).toMatchObject([{ wait_outcome: outcome }]);
	});

	test('a wait for a list that is completed', async () => {
		const found = await ring.records('campaignStatus', {
			campaignId: campaigns.active,
			waitUntilCompleted: true,
			campaignUploadId: uploads.completed,
		});
		expect(found).toMatchObject([
			{ wait_outcome: 'completed', wait_note: `Contact list ${uploads.completed} is completed.` },
		]);
		expect(schemaMismatches('CampaignStatus', null, found[0])).toEqual([]);
		expect(neverSeen('CampaignStatus', null, found)).toEqual([]);
	});
});
