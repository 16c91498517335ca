// The areas of code to mutate, which can run separately. For each area, only the tests of its own folder count.
const SHARED = 'nodes/shared';
const testsIn = (...globs) => globs.map((glob) => `test/nodes/${glob}`);
const FORMS = 'test/package/{forms,conventions}.test.ts';

/** Critical code: it decides whether something is sent, how many times, and what is reported. All mutants run. */
const CRITICAL = [
	{
		name: 'request',
		mutate: [
			`${SHARED}/api/{retry,envelope,response,errorTable,rejectionBody,errors,client,http}.ts`,
		],
		tests: testsIn('shared/api/**/*.test.ts', 'PlaceCall/rejected.test.ts'),
	},
	{
		name: 'items',
		mutate: [
			`${SHARED}/n8n/{once,run}/*.ts`,
			`${SHARED}/n8n/{tools/toolRun,forms/list,triggers/newEvents,http/transport}.ts`,
		],
		tests: [
			FORMS,
			...testsIn(
				'shared/n8n/**/*.test.ts',
				'{PlaceCall,ChatSend,CallCompletedTrigger,Dnd}/**/*.test.ts',
			),
		],
	},
	{
		name: 'push',
		mutate: ['nodes/PushCampaignContacts/{push/*,file/*,pushSettings,sameForAllRows}.ts'],
		tests: testsIn('PushCampaignContacts/**/*.test.ts'),
	},
	{
		name: 'lists',
		mutate: [
			`${SHARED}/api/paging.ts`,
			`${SHARED}/calls/callList.ts`,
			'nodes/Dnd/list/{dndList,listedNumbers}.ts',
		],
		tests: testsIn(
			'shared/api/paging.test.ts',
			'shared/calls/callList.test.ts',
			'{Dnd,GetCall}/**/*.test.ts',
		),
	},
	{
		name: 'phone',
		mutate: [`${SHARED}/phone/*.ts`, 'nodes/Dnd/list/phoneMatch.ts'],
		tests: testsIn('{shared/phone,Dnd/list,PushCampaignContacts/push}/*.test.ts'),
	},
	{
		name: 'socket',
		mutate: [`${SHARED}/chat/*.ts`, 'nodes/ChatSend/turnFault.ts'],
		tests: testsIn('shared/chat/*.test.ts', 'ChatSend/turnFault.test.ts'),
	},
	{
		name: 'triggers',
		mutate: ['nodes/*Trigger/!(properties|*.node).ts'],
		tests: testsIn('*Trigger/*.test.ts', 'shared/n8n/**/*.test.ts'),
	},
	{
		name: 'waits',
		mutate: [
			'nodes/PlaceCall/{ask,wait}/*.ts',
			'nodes/PlaceCall/callLimiter.ts',
			'nodes/PlaceCall/callTime.ts',
			`${SHARED}/calls/{readCall,callEnd}.ts`,
			'nodes/CallCompletedTrigger/readCompletedCall.ts',
			'nodes/CampaignStatus/readStatuses.ts',
			'nodes/ChatSession/chatWait.ts',
		],
		tests: testsIn('{PlaceCall,CampaignStatus,ChatSession}/**/*.test.ts', 'shared/calls/*.test.ts'),
	},
];

const except = CRITICAL.flatMap(({ mutate }) => mutate).map((glob) => `!${glob}`);

/** Other code, of which a fixed sample of mutants runs. */
const REST = [
	{
		name: 'rest of what is shared',
		mutate: [`${SHARED}/!(n8n)/**/*.ts`, `${SHARED}/*.ts`, ...except],
		tests: [
			'test/package/modelAdvice.test.ts',
			...testsIn(
				'shared/!(n8n)/**/*.test.ts',
				'shared/*.test.ts',
				'{PlaceCall,GetCall,CampaignStatus,Dnd,ChatSession,Agents}/**/*.test.ts',
			),
		],
	},
	{
		name: 'rest of n8n',
		mutate: [`${SHARED}/n8n/**/*.ts`, 'credentials/*.ts', ...except],
		tests: [
			FORMS,
			'test/credentials/*.test.ts',
			...testsIn(
				'shared/n8n/**/*.test.ts',
				'{GetCall,Dnd,ChatSend,CallCompletedTrigger,Agents}/**/*.test.ts',
			),
		],
	},
	{
		name: 'rest of Push Campaign Contacts',
		mutate: ['nodes/PushCampaignContacts/**/*.ts', ...except],
		tests: [FORMS, ...testsIn('PushCampaignContacts/**/*.test.ts')],
	},
	{
		name: 'rest of the nodes',
		mutate: ['nodes/!(shared|PushCampaignContacts)/**/*.ts', ...except],
		tests: [FORMS, ...testsIn('!(shared|PushCampaignContacts)/**/*.test.ts')],
	},
];

const named = [
	...CRITICAL.map((area) => ({ ...area, goal: 90, share: 1 })),
	...REST.map((area) => ({ ...area, goal: 80, share: 0.2 })),
];

/** The same seed draws the same mutants from the same code. */
export const SEED = Number(process.env.MUTATION_SEED || 20261120);

export const RESULTS = 'reports/mutation';

/** Each area with the share of its mutants that run, and the result file of the sample. */
export const AREAS = named.map((area) => {
	const share = Number(process.env.MUTATION_SHARE || area.share);
	const file = area.name.replaceAll(' ', '-');
	const sample = share === 1 ? '' : `-${share}-${SEED}`;
	return { ...area, file, share, results: `${RESULTS}/${file}${sample}.json` };
});

export function areaNamed(name) {
	const area = AREAS.find((one) => one.name === name);
	if (area === undefined) {
		throw new Error(
			`Unknown area ${name}. The areas are ${AREAS.map((one) => one.name).join(', ')}`,
		);
	}
	return area;
}
