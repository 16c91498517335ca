import type { World } from '../world';

export class ChatEngine {
	constructor(readonly world: World) {}
	reset(): void {}
}
