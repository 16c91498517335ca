/**
 * How to go on after something went wrong: for a person at n8n's screen, and for a model that uses the node as a tool.
 * `forModel` names nothing that is only on the screen. It is empty if a model can do nothing.
 */
export type Resolution = { onScreen: string; forModel: string };

/** Who reads an advice. */
export type Reader = keyof Resolution;

export function readerOf(isModel: boolean): Reader {
	return isModel ? 'forModel' : 'onScreen';
}

/** Advice that needs no screen. */
export function forEveryone(advice: string): Resolution {
	return { onScreen: advice, forModel: advice };
}

/** Advice that only a person at n8n's screen can follow. */
export function onScreenOnly(advice: string): Resolution {
	return { onScreen: advice, forModel: '' };
}

/** The same advice, and after it some that needs no screen. */
export function followedBy({ onScreen, forModel }: Resolution, advice: string): Resolution {
	return { onScreen: `${onScreen} ${advice}`.trim(), forModel: `${forModel} ${advice}`.trim() };
}

/** A model has only one person to talk to; who is called by phone is somebody else. */
export const USER = 'the user you are chatting with';

/** The only advice if nothing else is left. */
export const FOR_THE_OWNER = `Tell ${USER} that the person who set up this tool must fix this.`;
