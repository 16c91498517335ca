/** Tool results are for models, so they contain no advice for a person in n8n's editor. */
import ts from 'typescript';
import { ERRORS, explainRejection } from '../../nodes/shared/api/errorTable';
import { setupEngine } from '../engine';
import { allParameters } from './descriptions';
import { sourceTrees } from './texts';

beforeAll(setupEngine);

/** Fields that a model can fill in. */
const FILLED_IN =
	/^(Phone Number|Person Name|When to Call|Date and Time|Time in India|Campaign ID|Session ID|Call ID|Contact List ID|Message ID|Agent ID|Interaction ID|Option ID)$/;

/** Names of fields that only a person sees. */
function namesOnScreen(): string[] {
	const names = allParameters().map(({ property }) => property.displayName);
	return [...new Set(names)].filter((name) => /^\w+ .*[A-Z]/.test(name) && !FILLED_IN.test(name));
}

const ON_SCREEN =
	/\b(turn\w* (it |them )?(on|off)|this item|drag|menu|screen|Options|n8n|(?<!run of this )workflow|credential|expression|node|switch|Base URL|API [Mm]apping|API token)\b|[›→]/;

/** A text in the sources, and its readers. */
type SourceText = { place: string; text: string; reader: 'everyone' | 'model' | 'screen' };

const READERS: { [marker: string]: SourceText['reader'] } = {
	forEveryone: 'everyone',
	followedBy: 'everyone',
	onScreenOnly: 'screen',
};

/** The texts in an expression, including texts of constants in the same file. */
function textsIn(expression: ts.Node, source: ts.SourceFile, depth = 0): string[] {
	if (ts.isStringLiteralLike(expression)) return [expression.text];
	if (ts.isTemplateExpression(expression)) {
		const plain = expression
			.getText()
			.slice(1, -1)
			.replaceAll(/\$\{[^}]*\}/g, '…');
		const constants = expression.templateSpans.filter((span) => ts.isIdentifier(span.expression));
		return [plain, ...constants.flatMap((span) => textsIn(span.expression, source, depth))];
	}
	if (ts.isIdentifier(expression) && depth === 0) {
		return constantsOf(source)
			.filter(({ name }) => name.getText() === expression.text)
			.flatMap(({ initializer }) => (initializer ? textsIn(initializer, source, 1) : []));
	}
	const found: string[] = [];
	ts.forEachChild(expression, (child) => {
		found.push(...textsIn(child, source, 1));
	});
	return found;
}

function constantsOf(source: ts.SourceFile): ts.VariableDeclaration[] {
	return source.statements
		.filter(ts.isVariableStatement)
		.flatMap(({ declarationList }) => [...declarationList.declarations]);
}

function sourceTextsIn({ file, source }: { file: string; source: ts.SourceFile }): SourceText[] {
	const found: SourceText[] = [];
	const note = (node: ts.Node, reader: SourceText['reader']) => {
		const place = `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
		for (const text of textsIn(node, source)) {
			if (/\w \w/.test(text)) found.push({ place, text, reader });
		}
	};
	const visit = (node: ts.Node): void => {
		if (ts.isCallExpression(node)) {
			const reader = READERS[node.expression.getText()];
			if (reader !== undefined) for (const argument of node.arguments) note(argument, reader);
		}
		if (ts.isPropertyAssignment(node) && /^(forModel|FOR_MODEL)$/.test(node.name.getText())) {
			note(node.initializer, 'model');
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

const sourceTexts = sourceTrees().flatMap(sourceTextsIn);
const forModels = sourceTexts.filter(({ reader }) => reader !== 'screen');
const forScreen = sourceTexts.filter(({ reader }) => reader === 'screen');

test('checks more than 80 texts for models, texts for people, and field names', () => {
	expect(forModels.length).toBeGreaterThan(80);
	expect(forScreen.length).toBeGreaterThan(80);
	expect(namesOnScreen().length).toBeGreaterThan(80);
});

test('texts for models contain no advice for the editor', () => {
	const names = namesOnScreen();
	const wrong = forModels.flatMap(({ place, text }) => {
		const named = names.find((name) => text.includes(name));
		const isWrong = named !== undefined || ON_SCREEN.test(text);
		return isWrong ? [`${place} (${named ?? 'screen'}): ${text}`] : [];
	});
	expect(wrong).toEqual([]);
});

/** Advice that isn't for models although it doesn't mention the editor, with reasons. */
const NOT_FOR_MODELS: Array<[file: RegExp, begin: RegExp, reason: string]> = [
	[/Trigger\/|webhookSecret|parseChatFields/, /./, 'no model uses it'],
	[/callingHours|timeZone/, /^Enter /, 'the hours are set with the tool'],
	[/waitOption/, /^Enter a number/, 'the wait is set with the tool'],
	[/forms\/fields/, /^Select /, 'options are added to the tool'],
	[/PushCampaignContacts\/(file|push\/columns)/, /./, 'a tool reads no file'],
	[
		/agents|callList|callFilters|testCallList|testMapping|providerSettings/,
		/^…|^Correct|^According to its documentation/,
		'it names the API mapping',
	],
	[/turnFault/, /\bkey\b/, 'a tool has no key to change'],
	[/placeCalls/, /^Enter how many calls/, 'the limit is set with the tool'],
	[/chunkSender\.ts/, /^Check the campaign/, 'the next step says that the outcome is unknown'],
	[/api\/response|itemLoop/, /(later|it)\.|Run/, 'the next step says when to ask again'],
];

const SCREEN_WORDS =
	/\b(credential|item|node|workflow|execution|Options?|option|column|file|CSV|expression|n8n|token|field|switch|provides? your service|service provider|URL|administrator|form)\b|›|→/i;

test('models get all advice that does not need the editor', () => {
	const names = namesOnScreen();
	const kept = forScreen.filter(
		({ place, text }) =>
			!SCREEN_WORDS.test(text) &&
			!names.some((name) => text.includes(name)) &&
			!NOT_FOR_MODELS.some(([file, begin]) => file.test(place) && begin.test(text)),
	);
	// To fix a failure, give the advice to models with `forEveryone` or `forModel`, or add it to NOT_FOR_MODELS.
	expect(kept.map(({ place, text }) => `${place}: ${text}`)).toEqual([]);
	const unused = NOT_FOR_MODELS.filter(
		([file, begin]) => !forScreen.some(({ place, text }) => file.test(place) && begin.test(text)),
	);
	expect(unused).toEqual([]);
});

/** Only the person who set up the tool can do something about these. */
const FOR_THE_OWNER = ['The service rejected the API token', 'The agent has no post-call analysis'];

test('each documented error tells a model what to do', () => {
	const statuses = [400, 401, 403, 404, 409, 413, 422, 429].map((status) => {
		const { message, resolution } = explainRejection(
			{ method: 'POST', path: '/v1/campaigns/7/contacts' },
			{ status, headers: {}, text: '' },
			{ texts: ['No'], body: { success: false } },
			0,
		);
		return { message, forModel: resolution.forModel };
	});
	for (const { message, forModel: advice } of [
		...ERRORS.filter(({ code }) => code !== undefined),
		...statuses,
	]) {
		if (FOR_THE_OWNER.some((begin) => message.startsWith(begin))) {
			expect({ what: message, advice }).toEqual({ what: message, advice: '' });
			continue;
		}
		expect({ what: message, advice }).toEqual({
			what: message,
			advice: expect.stringMatching(/\w{3,}.*\.$/),
		});
	}
});
