/**
 * How to go on after something went wrong. A text alone is for everyone: a model that uses the node as a tool reads the
 * sentences of it that need no screen.
 */
export type Resolution = string | { onScreen: string; forModel: string };

export function onScreen(resolution: Resolution): string {
	return typeof resolution === 'string' ? resolution : resolution.onScreen;
}

/** Empty if only a person at the screen can do something. */
export function forModel(resolution: Resolution): string {
	return typeof resolution === 'string' ? adviceForModel(resolution) : resolution.forModel;
}

/** A model has only one person to talk to; who is called by phone is somebody else. */
export const USER = 'the user you are chatting with';

/** The only advice if nothing else is left. */
export const FOR_THE_OWNER = `Tell ${USER} that the person who set up this tool must fix this.`;

/** What only a person at n8n's screen can do, or would find there. */
const ON_SCREEN = [
	/\b(this|each|an earlier|the) items?\b/i,
	/\b(credential|editor|execution|expression|node|n8n|switch|trigger|workflow)s?\b/i,
	/\b(drag|options?|menu|screen|settings|column|Base URL|API [Mm]apping|API token)\b/i,
	/\bidempotency key\b/i,
	/[›→]/,
];

/** “Return All”, “Skip Numbers Fed Before”: a name on the screen, unless it begins the sentence. */
const NAME =
	/(?<!^)\b[A-Z][a-z]+(?: (?:the|to|of|for|a|an|in|on|by|as|is|and|or|per|from|when))* [A-Z][a-z]+/;

/** Words that say the same without a screen, such as the names of what a model fills in. */
const OF_MODELS =
	/\b(Phone Number|Person Name|When to Call|Date and Time|Time in India|Indian Standard Time|United States|[Rr]un of this workflow)\b/g;

/** Advice without what only a person at the screen can do; empty if nothing else is left. */
export function adviceForModel(advice: string): string {
	const sentences = advice.split(/(?<=[.!?]) (?=[\p{Lu}“"([])/u);
	const kept = sentences.filter((sentence) => !isForScreen(sentence));
	return kept.length === sentences.length ? advice : kept.join(' ');
}

function isForScreen(sentence: string): boolean {
	const own = sentence.replace(OF_MODELS, 'this').replace(/"[^"]*"/g, '""');
	return ON_SCREEN.some((pattern) => pattern.test(own)) || NAME.test(own) || namesASwitch(own);
}

/** "Turn … on": each line is looked through once, from the first such word in it. */
function namesASwitch(sentence: string): boolean {
	const lines = sentence.match(/\b(?:turn|turned|switch|switched)\b.*/gi) ?? [];
	return lines.some((line) => /\b(?:on|off)\b/i.test(line));
}
