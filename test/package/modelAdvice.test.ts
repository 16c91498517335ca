/** What a tool answers is for a model: nothing in it is advice for a person at n8n's screen. */
import { ERROR_TABLE, explainStatus } from '../../nodes/shared/api/errorTable';
import { adviceForModel, forModel } from '../../nodes/shared/api/modelAdvice';
import { CREDENTIAL } from '../../nodes/shared/n8n/credential';
import { loader, setupEngine } from '../engine';
import { parametersIn } from './descriptions';
import { texts } from './texts';

beforeAll(setupEngine);

/** What a model fills in, whatever it is called there. */
const FILLED_IN =
	/^(Phone Number|Person Name|When to Call|Date and Time|Time in India|Campaign ID|Session ID|Call ID|Contact List ID|Message ID|Agent ID|Interaction ID|Option ID)$/;

/** Names that stand on the screen and nowhere else. */
function namesOnScreen(): string[] {
	const forms = [
		...loader.types.nodes.map(({ properties }) => properties),
		loader.getCredential(CREDENTIAL).type.properties,
	];
	const names = forms.flatMap((form) =>
		parametersIn(form, '').map(({ property }) => property.displayName),
	);
	return [...new Set(names)].filter((name) => /^\w+ .*[A-Z]/.test(name) && !FILLED_IN.test(name));
}

const ON_SCREEN =
	/\b(turn\w* (it |them )?(on|off)|(run|push|process) this item|this item|drag|Options|n8n|(?<!run of this )workflow|credential|expression)\b/;

/** Messages and advice; what stands in forms is not told by a run. */
const told = texts.filter(
	({ place, text }) =>
		/[a-z][.!?]$/.test(text) &&
		!/(properties|Fields?|\.operation|\.node|\.credentials|apiMapping\/\w+|toolDescription|verify|credentialTest)\.ts/.test(
			place,
		),
);

test('there is much to walk', () => {
	expect(told.length).toBeGreaterThan(150);
	expect(namesOnScreen().length).toBeGreaterThan(80);
});

test('no advice that reaches a model is for a screen', () => {
	const names = namesOnScreen();
	const wrong = told.flatMap(({ place, text }) => {
		const advice = adviceForModel(text);
		const named = names.find((name) => advice.includes(name));
		const isWrong = named !== undefined || ON_SCREEN.test(advice);
		return isWrong ? [`${place} (${named ?? 'screen'}): ${advice}`] : [];
	});
	expect(wrong).toEqual([]);
});

/** Only the person who set up the tool can do something about these. */
const FOR_THE_OWNER = [
	'The service does not accept the API token',
	'The agent has no post-call analysis',
];

test('each documented error leaves a model something to do', () => {
	const statuses = [400, 401, 403, 404, 409, 413, 422, 429].map((status) =>
		explainStatus({ method: 'POST', path: '/v1/campaigns/7/contacts' }, status, true),
	);
	for (const { what, resolution } of [...ERROR_TABLE, ...statuses]) {
		const advice = forModel(resolution);
		if (FOR_THE_OWNER.some((begin) => what.startsWith(begin))) {
			expect({ what, advice }).toEqual({ what, advice: '' });
			continue;
		}
		expect({ what, advice }).toEqual({ what, advice: expect.stringMatching(/\w{3,}.*\.$/) });
	}
});

test.each([
	['Enter the number to call.', 'Enter the number to call.'],
	[
		'Enter how many results to return, from 1 on. For all of them use Return All.',
		'Enter how many results to return, from 1 on.',
	],
	['Check Base URL in the credential.', ''],
	['Turn on Watched Sessions.', ''],
	['Use IN for India. “Go on” is fine.', 'Use IN for India. “Go on” is fine.'],
	['Fill it in, or set When to Call to now.', 'Fill it in, or set When to Call to now.'],
	[
		'The input has: "Mobile Number". Nothing was sent.',
		'The input has: "Mobile Number". Nothing was sent.',
	],
	['', ''],
])('%j is told as %j', (advice, words) => {
	expect(adviceForModel(advice)).toBe(words);
});
